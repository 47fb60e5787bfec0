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
code=0
experiments/docs.sh "$build" >"$work/README.md" 2>"$work/err" || code=$?
if grep -q 'a build with every backend' "$work/err"; then
	echo "SKIP: $(cat "$work/err")"
	exit 77
fi
[ "$code" = 0 ] || fail "a program of the docs failed: $(cat "$work/err")"
[ "$(grep -c '^<!-- generated: ' "$work/README.md")" = 2 ] || fail "queues/README.md has not its two tables"
diff -u queues/README.md "$work/README.md" || fail "queues/README.md is not what the programs print: make docs"
