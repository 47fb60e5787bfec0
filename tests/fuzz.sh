#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: tests/fuzz.sh BUILD: every fuzz target over its corpus; and the same files as what the plots read: a figure's
# data, or a sentence that names the file, and exit 2.
set -eu
build=$1
fail() {
	echo "fuzz.sh: $*" >&2
	exit 1
}
for source in tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	[ "$target" != replay ] || continue
	"$build/tests/replay_$target" "tests/fuzz/corpus/$target"/* >/dev/null || fail "$target: exit $?"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plots=$(cd plots && pwd)
corpus=$(cd tests/fuzz/corpus && pwd)
cd "$work"
export LC_ALL=C SUMMARY MEASURE=submit_per_s ROW_PARTS=2 SORTED=no
for SUMMARY in "$corpus"/*/*; do
	for layout in dots shards; do
		code=0
		awk -f "$plots/csv.awk" -f "$plots/$layout.awk" "$SUMMARY" >out 2>err || code=$?
		[ "$code" = 0 ] || [ "$code" = 2 ] || fail "$layout of $SUMMARY: exit $code"
		[ "$code" = 0 ] || grep -q . err || fail "$layout of $SUMMARY: no sentence"
		! grep -q '[^ -~]' err || fail "$layout of $SUMMARY: echoes what a terminal would obey"
	done
done
