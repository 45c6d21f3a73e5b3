//go:build !unix

package cli

import "os"

func pending(*os.File) bool { return false }
