#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: tests/docs.sh BUILD: the tables of queues/README.md are what the programs print now.
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "docs.sh: $*" >&2
	exit 1
}
"$build/fanin" list >"$work/list"
other=$(sed -n '/^  .*queues\/.* is left out: /p; /^    .* runs in its place here/p' "$work/list")
[ -z "$other" ] || {
	echo "SKIP: the tables of queues/README.md are of a build with every backend:"
	echo "$other"
	exit 77
}
experiments/docs.sh "$build" >"$work/README.md" || fail "a program of the docs failed"
[ "$(grep -c '^<!-- generated: ' "$work/README.md")" = 2 ] || fail "queues/README.md has not its two tables"
diff -u queues/README.md "$work/README.md" || fail "queues/README.md is not what the programs print: make docs"
