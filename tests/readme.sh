#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: tests/readme.sh BUILD: the README's table is that of the committed run, what it shows and links
# to exists, and its commands are targets.
set -eu
fail() {
	echo "readme.sh: $*" >&2
	exit 1
}
table=$(awk -f plots/csv.awk -f plots/table.awk experiments/data/collapse/summary.csv)
shown=$(sed -n '/^| configuration |/,/^$/p' README.md | sed '/^$/d')
[ "$table" = "$shown" ] || fail "its table is not the one of experiments/data/collapse: $table"
grep -o '](\([^)]*\))' README.md | sed 's/^](//; s/)$//' | while read -r link; do
	[ -e "$link" ] || fail "it links to $link, which is not there"
done
grep -o 'make [a-z_]*' README.md | sort -u | while read -r _ target; do
	make -n "$target" >/dev/null 2>&1 || [ "$target" = plot ] || fail "make $target is no target"
done
