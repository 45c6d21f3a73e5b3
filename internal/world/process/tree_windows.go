package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A tree is everything that a command started: the processes of a job, which
// ends with its last handle. So nothing outlives its command here, nor us.
type tree struct {
	marks   []string
	leaders []int
	since   uint64
	job     windows.Handle
}

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// controls is not reached: there are no terminals to give here.
func controls(*syscall.SysProcAttr) {}

// newTree puts p in a job. What p starts before that stays outside.
func newTree(mark string, p *os.Process, _ *group) (*tree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, p)
	}
	if err != nil {
		return nil, fmt.Errorf("put process %d in a job: %w", p.Pid, errors.Join(err, windows.CloseHandle(job)))
	}
	return &tree{marks: []string{mark}, job: job}, nil
}

func assign(job windows.Handle, p *os.Process) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if err != nil {
		return err
	}
	return errors.Join(windows.AssignProcessToJobObject(job, h), windows.CloseHandle(h))
}

// release ends what is left of t.
func (t *tree) release() { _ = windows.CloseHandle(t.job) }

// ask cannot ask: there is no signal that a program without a console gets.
func (t *tree) ask() {}

func (t *tree) remind() {}

// kill kills all of t, and returns how many there were to kill.
func (t *tree) kill() int {
	n := t.count()
	if n > 0 {
		_ = windows.TerminateJobObject(t.job, 1)
	}
	return n
}

func (t *tree) count() int {
	if t.job == 0 {
		return 0
	}
	var info struct {
		userTime, kernelTime             int64
		periodUserTime, periodKernelTime int64
		faults, total, active, ended     uint32
	}
	err := windows.QueryInformationJobObject(t.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return 0
	}
	return int(info.active)
}

// exact reports whether count is sure of what it says.
func (t *tree) exact() bool { return true }

// holders are not told here.
func (t *tree) holders(source) []string { return nil }

func (t *tree) grouped() bool { return false }

func unused([]int) []int { return nil }

func status(s *os.ProcessState) (code int, signal string) { return s.ExitCode(), "" }

func startOf(int) uint64 { return 0 }

// boot names nothing: no process needs to be fenced, see tree.
func boot() string { return "" }

func look(name string, _ []string) (string, error) { return exec.LookPath(name) }

// seal does nothing: only what is named is inherited here.
func seal() {}

// syncDir does nothing: names cannot be put on stable storage by themselves here.
func syncDir(string) error { return nil }

// polled is not reached: there are no terminals to give here.
func polled(f *os.File) (*os.File, error) { return f, nil }
