#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: tests/latency_figure.sh BUILD: the figure of latency against load is drawn from a run; data that is
# hostile, foreign or broken gives one sentence, exit 2, no figure, and runs nothing.
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "latency_figure.sh: $*" >&2
	exit 1
}
run=$work/a-latency # the directory's name says which figure
"$build/fanin" latency --config mutex/flag,vyukov/every --rate 500,2000 --duration 0.05 --samples 1 --out "$run" \
	>/dev/null 2>&1
plots/plot.sh "$run"
for figure in latency.svg latency.png; do
	[ -s "$run/$figure" ] || fail "$figure was not drawn"
done
grep -q 'vyukov/every' "$run/latency.svg" || fail "the figure does not name its curves"
"$build/fanin" latency --config mutex/flag --closed --duration 0.05 --samples 1 --out "$work/closed" >/dev/null 2>&1
refused() { # NAME DIR: in one sentence
	code=0
	FIGURE=latency plots/plot.sh "$2" >"$work/out" 2>"$work/err" || code=$?
	[ "$code" = 2 ] || fail "$1: exit $code instead of 2"
	[ "$(wc -l <"$work/err")" = 1 ] || fail "$1: not one sentence: $(cat "$work/err")"
	grep -q 'summary.csv' "$work/err" || fail "$1: the file is not named: $(cat "$work/err")"
	! ls "$2"/*.svg >/dev/null 2>&1 || fail "$1: a figure was left"
	! find . "$work" -name 'pwned*' | grep . || fail "$1: data was run as code"
	echo "ok: $1"
}
refused 'a closed loop, which has no rate' "$work/closed"
bad() { # NAME SED
	rm -rf "$work/bad"
	mkdir "$work/bad"
	sed "$2" "$run/summary.csv" >"$work/bad/summary.csv"
	refused "$1" "$work/bad"
}
# shellcheck disable=SC2016 # meant as they stand
bad 'a command as configuration' '2s/^measured,[^,]*/measured,`touch pwned1`/'
bad 'gnuplot code as configuration' '2s/^measured,[^,]*/measured,"; system("touch pwned2"); "/'
bad 'a macro as rate' '3s/,poisson,[0-9]*,/,poisson,@pwned3,/'
bad 'a missing column' '1s/latency_p99_ns_median/p99/'
bad 'simulated data as measured' '2s/^measured,/simulated,/'
bad 'a short row' '3s/,[^,]*$//'
# shellcheck disable=SC2016
bad 'a header only' '2,$d'
