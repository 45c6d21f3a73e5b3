//go:build soak

package toolbox

// soak says whether the long tests run whole, or take a sample.
const soak = true
