#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: tests/experiments.sh BUILD: each experiment's script runs, a sample a cell, and leaves data and figure;
# and `fanin bars` with its table.
set -eu
build=$1
if grep -q -- '-fsanitize=' "$build/flags"; then
	echo "SKIP: the experiments are run by the build that measures"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "experiments.sh: $*" >&2
	exit 1
}
for name in latency queues shards wake; do
	data=samples
	[ $name != latency ] || data=latency
	QUICK=1 SAMPLES=1 PRODUCERS=2 RATE=2000 OUT="$work/a $name" "experiments/$name.sh" "$build" >"$work/out" 2>"$work/err" ||
		fail "$name.sh: exit $?: $(cat "$work/err")"
	for file in $data.csv summary.csv machine.json "$name.svg"; do
		[ -s "$work/a $name/$file" ] || fail "$name.sh left no $file"
	done
	[ "$(tail -n 1 "$work/out")" = "$work/a $name" ] || fail "$name.sh does not end with the directory"
	code=0
	OUT="$work/a $name" "experiments/$name.sh" "$build" >/dev/null 2>"$work/err" || code=$?
	[ "$code" = 2 ] || fail "$name.sh: exit $code for a directory that is there"
	grep -q 'it is there' "$work/err" || fail "$name.sh: $(cat "$work/err")"
done
# Every queue that is not left out has its line.
"$build/fanin" list --format csv | awk -F, 'NR > 1 && $2 != "NA" { print $1 }' | while read -r queue; do
	grep -q "^${queue}[:/]" "$work/a queues/summary.csv" || fail "queues.sh did not measure $queue"
done
code=0
"$build/fanin" bars --producers 1,2 --samples 1 --min-time 0.005 --max-sample 0.02 --out "$work/bars" >"$work/out" \
	2>"$work/err" || code=$?
[ "$code" = 3 ] || fail "bars of one sample: exit $code instead of 3: $(cat "$work/err")"
grep -q '^2 producers: lanes.*too few samples$' "$work/bars/bars.csv" || fail "bars.csv: $(cat "$work/bars/bars.csv")"
awk -f plots/csv.awk -f plots/bars.awk "$work/bars/bars.csv" >"$work/table" || fail "no table of bars.csv"
[ "$(wc -l <"$work/table")" -gt 8 ] || fail "the table of bars.csv is short: $(cat "$work/table")"
