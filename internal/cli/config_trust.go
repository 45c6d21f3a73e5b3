package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// Trusted reports whether the settings that the project in dir brings count:
// dir was trusted, and they have not changed since. If not, why says it in
// words.
func Trusted(state, dir string) (ok bool, why string, err error) {
	digest, err := projectDigest(dir)
	if err != nil {
		return false, "", err
	}
	why, err = distrust(state, dir, digest)
	return err == nil && why == "", why, err
}

// Trust makes the settings that the project in dir brings count, as they are
// now.
func Trust(state, dir string) error {
	if state == "" {
		return &ConfigError{Message: "trust cannot be remembered: there is no home directory"}
	}
	digest, err := projectDigest(dir)
	if err != nil {
		return err
	}
	file, real, err := trustFile(state, dir)
	if err != nil {
		return err
	}
	return rewrite(file, func([]byte) ([]byte, error) {
		return []byte(digest + " " + real + "\n"), nil
	})
}

// distrust says why a project whose settings have that digest is not trusted,
// "" if it is.
func distrust(state, dir, digest string) (why string, err error) {
	const unknown = "this directory is not trusted"
	if state == "" {
		return unknown, nil
	}
	file, real, err := trustFile(state, dir)
	if err != nil {
		return "", err
	}
	b, present, err := readConfig(file)
	if err != nil || !present {
		return unknown, err
	}
	line, _ := bytes.CutSuffix(b, []byte("\n"))
	switch trusted, path, _ := strings.Cut(string(line), " "); {
	case path != real:
		return unknown, nil
	case trusted != digest:
		return "it has changed since it was trusted", nil
	}
	return "", nil
}

// trustFile returns where trust in dir is remembered, and dir without symbolic
// links.
func trustFile(state, dir string) (file, real string, err error) {
	if real, err = filepath.Abs(dir); err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return "", "", fmt.Errorf("resolve directory: %w", err)
	}
	return filepath.Join(state, "trust", digestOf([]byte(real))), real, nil
}

// projectDigest identifies the project's settings; their absence too.
func projectDigest(dir string) (string, error) {
	b, present, err := readConfig(projectFile(dir))
	if err != nil || !present {
		return "absent", err
	}
	return digestOf(b), nil
}
