#!/usr/bin/env bash
# Captures what real build and test tools print, as the fixtures of
# internal/toolbox/diagnostic.
#
#   eval/capture/capture.sh [TOOL ...]
#
# Each TOOL is a script beside this one, which makes small projects in
# /tmp/project and runs the tool on them; without arguments all are run. They
# need the tools: the Debian packages python3-pytest cmake clang gcc gradle maven
# libsurefire-java junit4, a Rust toolchain, Go, and in NODE_HOME (by default
# /tmp/node) `npm install jest vitest typescript eslint typescript-eslint`. A
# tool that is not there is passed over, and said so.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/../../internal/toolbox/diagnostic/testdata}
out=$(cd "$out" && pwd)
project=/tmp/project
node=${NODE_HOME:-/tmp/node}
rust=${CARGO_HOME:-$HOME/.cargo}/bin
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
export LC_ALL=C.UTF-8 TERM=dumb HOME=/tmp/home
unset CI NO_COLOR FORCE_COLOR RUST_BACKTRACE
mkdir -p "$HOME"

# fresh empties the project and goes there.
fresh() {
	cd /tmp && rm -rf "$project" && mkdir -p "$project" && cd "$project" || exit 1
}

# file PATH writes its standard input there.
file() {
	mkdir -p "$(dirname "$1")" && cat >"$1"
}

# shoot NAME COMMAND runs COMMAND in the project and keeps what it prints as
# NAME.txt, and its command and exit status in commands.tsv.
shoot() {
	bash -o pipefail -c "$2" >"$out/$1.txt" 2>&1 </dev/null
	local status=$?
	grep -v "^$1	" "$out/commands.tsv" 2>/dev/null >"$out/commands.new"
	printf '%s\t%d\t%s\n' "$1" "$status" "$2" >>"$out/commands.new"
	LC_ALL=C sort "$out/commands.new" >"$out/commands.tsv"
	rm "$out/commands.new"
	echo "$1: exit $status, $(wc -c <"$out/$1.txt") bytes"
}

tools=("$@")
[ $# -gt 0 ] || for f in "$here"/*.sh; do
	name=$(basename "$f" .sh)
	[ "$name" = capture ] || tools+=("$name")
done
for tool in "${tools[@]}"; do
	# shellcheck source=/dev/null
	. "$here/$tool.sh"
done
rm -rf "$project"
