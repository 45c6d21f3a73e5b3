#!/bin/sh
# usage: fuzz.sh [TIME]
# Runs every fuzz target of the module for TIME each (default 1m).
set -eu
cd "$(dirname "$0")/.."
time=${1:-1m}

grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u |
	while read -r package; do
		go test -list '^Fuzz' "$package" | grep '^Fuzz' | while read -r target; do
			echo "== $package $target"
			go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" </dev/null
		done
	done
