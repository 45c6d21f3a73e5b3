//go:build !linux

package process

import (
	"errors"
	"syscall"
)

// Groups and a group are what only Linux has.
type (
	groups struct{}
	group  struct{}
)

func newGroups(string) (*groups, error) { return nil, errors.ErrUnsupported }

func (g *groups) add(string) *group        { return nil }
func (g *groups) guarded()                 {}
func (g *groups) path() string             { return "" }
func (g *groups) end() bool                { return true }
func (g *group) join(*syscall.SysProcAttr) {}
func (g *group) release()                  {}
func refusal(error) bool                   { return false }
func fenceGroup(string) bool               { return true }
