# jest.
[ -x "$node/node_modules/.bin/jest" ] || { echo "jest: not installed"; return; }
export PATH=$node/node_modules/.bin:$PATH
v=$(jest --version) run='npx jest' verbose=--verbose coloured='npx jest --colors'
package='' export=exports. lost='{}'

imports() {
	[ $# -eq 1 ] || printf 'const %s = require("./%s");\n\n' "$2" "$3"
}

. "$here/javascript.bash"
