//go:build soak

package shell_test

// soak says whether the long tests run whole, or take a sample.
const soak = true
