package process_test

import (
	"testing"

	"github.com/belay-agent/belay/internal/world/process"
)

func TestR150_AHintNamesWhatTheSandboxStopped(t *testing.T) {
	const readOnly = "the sandbox keeps /etc/x read-only: the command was not let write there"
	const noHost = "the sandbox has no network: the command was not let reach "
	failed := process.Exit{Code: 1, Profile: "full"}
	for _, tc := range []struct {
		exit   process.Exit
		stderr string
		want   string
	}{
		{failed, "bash: line 1: /etc/x: Read-only file system\n", readOnly},
		{failed, "touch: cannot touch '/etc/x': Read-only file system\n", readOnly},
		{failed, "OSError: [Errno 30] Read-only file system: '/etc/x'\n", readOnly},
		{failed, "open /etc/x: read-only file system\n", readOnly},
		{failed, "Error: EROFS: read-only file system, open '/etc/x'\n", readOnly},
		{failed, "curl: (6) Could not resolve host: example.com\n", noHost + "example.com"},
		{failed, "fatal: unable to access 'https://a.org/': Could not resolve host: a.org\n", noHost + "a.org"},
		{failed, "npm error getaddrinfo EAI_AGAIN registry.npmjs.org\n", noHost + "registry.npmjs.org"},
		{failed, "Get \"https://proxy.golang.org/x\": dial tcp: lookup proxy.golang.org on 1.1.1.1:53: dial udp 1.1.1.1:53: connect: network is unreachable\n", noHost + "proxy.golang.org"},
		{failed, "dial tcp 10.0.0.1:443: connect: network is unreachable\n", noHost + "10.0.0.1:443"},
		{failed, "cat: /root/.ssh/id: Permission denied\n", "the sandbox was on (full), and may be why"},
		{failed, "--- FAIL: TestX\n", ""},
		{failed, "", ""},
		{process.Exit{Profile: "full"}, "x: Read-only file system\n", ""},
		{process.Exit{Code: 1, Profile: "none"}, "/etc/x: Read-only file system\n", ""},
		{process.Exit{Code: 1, Profile: "none, as approved"}, "/etc/x: Read-only file system\n", ""},
		{process.Exit{Code: -1, Signal: "SIGKILL", Memory: true, Profile: "full"}, "", "something was killed because the limit of memory or of processes was reached"},
		{process.Exit{Code: 153, Profile: "full"}, "", "a file reached the limit of its size"},
	} {
		if got := tc.exit.Hint([]byte(tc.stderr)); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.stderr, got, tc.want)
		}
	}
}
