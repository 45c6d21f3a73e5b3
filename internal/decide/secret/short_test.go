//go:build !soak

package secret

// soak says whether the long tests run whole, or take a sample.
const soak = false
