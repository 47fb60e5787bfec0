#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: tests/plots.sh BUILD: a real run is drawn from an awkwardly named directory; hostile, foreign
# and broken data give one sentence, exit 2, no figure, and run nothing.
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "plots.sh: $*" >&2
	exit 1
}

run="$work/a run's \$(touch pwned) dir"
"$build/fanin" run --config vyukov/every,vyukov/edge --producers 1,2 --samples 3 --min-time 0.005 \
	--per-producer 500 --out "$run" >/dev/null
plots/plot.sh "$run"
for figure in collapse.svg collapse.png; do
	[ -s "$run/$figure" ] || fail "$figure was not drawn"
done
grep -q 'vyukov/edge' "$run/collapse.svg" || fail "the figure does not name its curves"
grep -q 'published' "$run/collapse.svg" || fail "the published curve is not labelled so"

# Each figure names what it shows, from a run that has it.
"$build/fanin" run --config mutex/every,mutex/every/futex,mutex/pending,spin:shards=2,spin:shards=4 \
	--producers 1,2 --samples 3 --min-time 0.005 --per-producer 500 --out "$work/several" >/dev/null 2>&1
for figure in queues wake; do
	FIGURE=$figure plots/plot.sh "$work/several"
	[ -s "$work/several/$figure.svg" ] || fail "$figure.svg was not drawn"
done
grep -q 'spin:shards=4' "$work/several/queues.svg" || fail "the queues figure does not name its lines"
grep -q 'futex' "$work/several/wake.svg" || fail "the wake figure does not name its signals"
"$build/fanin" run --config spin:shards=2,spin:shards=4,sharded_vyukov:shards=2 --producers 1,2 --samples 3 \
	--min-time 0.005 --per-producer 500 --out "$work/x-shards" >/dev/null 2>&1
plots/plot.sh "$work/x-shards" # the directory's name says which
grep -q 'sharded_vyukov' "$work/x-shards/shards.svg" || fail "the shards figure does not name its curves"
code=0
FIGURE=fly plots/plot.sh "$work/several" 2>"$work/err" || code=$?
[ "$code" = 2 ] || fail "an unknown figure: exit $code instead of 2"
grep -q "FIGURE can't be 'fly'" "$work/err" || fail "an unknown figure is not named"

refuses() { # NAME: plots/plot.sh refuses $work/bad in one sentence that names summary.csv
	code=0
	FIGURE=$figure plots/plot.sh "$work/bad" >"$work/out" 2>"$work/err" || code=$?
	[ "$code" = 2 ] || fail "$1: exit $code instead of 2"
	[ "$(wc -l <"$work/err")" = 1 ] || fail "$1: not one sentence: $(cat "$work/err")"
	grep -q 'summary.csv' "$work/err" || fail "$1: the file is not named: $(cat "$work/err")"
	! ls "$work/bad"/*.svg >/dev/null 2>&1 || fail "$1: a figure was left"
	! find . "$work" -name 'pwned*' | grep . || fail "$1: data was run as code"
	echo "ok: $figure, $1"
}
bad() { # SED: $work/bad is the run with summary.csv edited
	rm -rf "$work/bad"
	mkdir "$work/bad"
	cp "$run/machine.json" "$work/bad/"
	sed "$1" "$run/summary.csv" >"$work/bad/summary.csv"
}

for figure in collapse queues wake shards; do
	# shellcheck disable=SC2016 # meant as they stand
	bad '2s/^[^,]*/`touch pwned1`/' && refuses 'a command as configuration'
	bad '2s/^[^,]*/"; system("touch pwned2"); "/' && refuses 'gnuplot code as configuration'
	bad '3s/,no,no,no$/,@pwned3,no,no/' && refuses 'a macro as flag'
	bad '1s/overlap_median/share/' && refuses 'a missing column'
	bad '2s/,measured,/,simulated,/' && refuses 'simulated data as measured'
	bad '3s/,[^,]*$//' && refuses 'a short row'
	# shellcheck disable=SC2016
	bad '2,$d' && refuses 'a header only'
	bad 'd' && refuses 'an empty file'
	rm -f "$work/bad/summary.csv" && refuses 'no file'
done
