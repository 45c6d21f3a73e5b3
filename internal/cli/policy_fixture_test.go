//go:build linux

package cli

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fixtureFiles are the files that the lines of the corpus are about. Whatever
// runs makes a file named pwn.
var fixtureFiles = map[string]string{
	"README.md":    "# alpha\n\nbeta TODO\n",
	"src/main.go":  "package main\n\nfunc main() {}\n",
	"src/util.py":  "import os\n\ndef util():\n    pass\n",
	"src/app.js":   "console.log(1)\n",
	"package.json": `{"name":"x","scripts":{"lint":"touch pwn","test":"touch pwn"}}`,
	"Makefile":     "all:\n\ttouch pwn\n",
	"data.csv":     "a,1\nb,2\n",
	"notes.txt":    "alpha TODO\nrm -rf nothing\nbeta\n",
	"a.txt":        "alpha\nbeta\n",
	"b.txt":        "alpha\ngamma\n",
	"list.txt":     "a\nb\nb\n1\n",
	"-dash.txt":    "dash\n",
	"cmds.txt":     "touch pwn\n",
	"evil.sh":      "#!/bin/sh\ntouch pwn\n",
	"ls":           "#!/bin/sh\ntouch pwn\n",
	"script.sed":   "1e touch pwn\n",
	"prog.awk":     "BEGIN{system(\"touch pwn\")}\n",
	"evil.cfg":     "output = pwn\n",
	"evil.rc":      "--pre=./evil.sh\n",
	"patch.diff":   "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-alpha\n+alpha2\n",
	".env":         "API_TOKEN=fixture\n",
	"k.pem":        "fixture key\n",
	"conftest.py":  "open('pwn', 'w')\n",
	"evil.d/run":   "#!/bin/sh\ntouch pwn\n",
	"a.c":          "int main() { return 0; }\n",
}

// fixtureTime is another time than that of any file.
var fixtureTime = time.Unix(1_700_000_000, 0)

// fixture makes the workspace of the corpus and returns its root.
func fixture(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		at := filepath.Join(root, name)
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range fixtureFiles {
		put(name, text)
	}
	put("archive.tar", tarball(t))
	put("archive.zip", zipball(t))
	put("x.gz", gzipped(t))
	if err := os.Symlink("/etc/passwd", filepath.Join(root, "link-out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "emptydir"), 0o755); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) { gitIn(t, root, args...) }
	git("init", "-q", "-b", "main")
	git("add", "README.md", "src", "a.txt", "b.txt")
	git("commit", "-qm", "init")
	put("README.md", "# alpha\n\nbeta TODO\nmore\n")
	git("commit", "-qam", "two")
	git("branch", "other")
	put("b.txt", "stashed\n")
	git("stash", "-q")
	put("a.txt", "alpha\nbeta\ndirty\n")
	put("evil/f.txt", "f\n")
	evil := filepath.Join(root, "evil")
	gitIn(t, evil, "init", "-q", "-b", "main")
	gitIn(t, evil, "add", "f.txt")
	gitIn(t, evil, "commit", "-qm", "init")
	gitIn(t, evil, "config", "core.fsmonitor", "touch pwn;false")
	return root
}

// gitIn runs git without the settings of whoever runs the test.
func gitIn(t testing.TB, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t.test"}, args...)...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + dir}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func tarball(t testing.TB) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "a.txt", Mode: 0o644, Size: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("x\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipball(t testing.TB) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("a.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("x\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(t testing.TB) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte("x\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
