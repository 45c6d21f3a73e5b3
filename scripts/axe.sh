#!/bin/sh
# Fetches axe-core (MPL-2.0), which checks a page for accessibility, for the tests
# of the trace. It is not part of Belay: prints where it is, in the user's cache.
set -eu
version=4.14.1
sha512=1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5
dir=${XDG_CACHE_HOME:-${HOME:?}/.cache}/belay-tests
file=$dir/axe-$version.min.js
if [ ! -f "$file" ]; then
	mkdir -p "$dir"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	if command -v npm >/dev/null; then
		(cd "$work" && npm pack --silent "axe-core@$version" >/dev/null && mv axe-core-*.tgz axe.tgz)
	else
		curl -fsSL --max-time 120 -o "$work/axe.tgz" "https://registry.npmjs.org/axe-core/-/axe-core-$version.tgz"
	fi
	echo "$sha512  $work/axe.tgz" | sha512sum -c - >&2
	tar -xzf "$work/axe.tgz" -C "$work" package/axe.min.js
	mv "$work/package/axe.min.js" "$file"
fi
echo "$file"
