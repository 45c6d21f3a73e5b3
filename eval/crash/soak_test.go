//go:build soak

package crash

// soak says whether the tests go everywhere, or take a sample.
const soak = true
