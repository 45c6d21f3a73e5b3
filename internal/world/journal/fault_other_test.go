//go:build !linux

package journal

func limit(string) {}
