# vitest.
[ -x "$node/node_modules/.bin/vitest" ] || { echo "vitest: not installed"; return; }
export PATH=$node/node_modules/.bin:$PATH
v=$(vitest --version 2>/dev/null | sed 's|vitest/\([0-9.]*\).*|\1|')
run='npx vitest run' verbose=--reporter=verbose coloured='FORCE_COLOR=1 npx vitest run'
package='"type": "module", ' export='export const ' lost='lost()'

imports() {
	printf 'import { %s } from "vitest";\n' "$1"
	[ $# -eq 1 ] || printf 'import %s from "./%s";\n' "$2" "$3"
	echo
}

. "$here/javascript.bash"
