#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/collapse.sh [BUILD]: the main experiment. The published three, and the two that
# separate the factors that differ between two of them: the queue, and when the FFI thread is woken.
# QUICK=1: half a minute at most, marked quick. SIGNAL=socketpair: the published signal path. OUT=DIR: where to.
set -eu
build=${1:-build}
signal=${SIGNAL:-eventfd}
host=$(uname -n | tr -cd 'A-Za-z0-9-')
out=${OUT:-runs/$(date -u +%Y-%m-%dT%H%M%SZ)-$host-collapse}

if [ "${QUICK:-0}" = 1 ]; then
	set -- --quick --samples 5 --min-time 0.03 --max-sample 0.3
else
	# 9: the interval (96 %) leaves out the extreme sample on either side, a slow moment of a VM say.
	set -- --samples 9 --min-time 0.1 --max-sample 1
fi
mkdir -p "$(dirname "$out")"
code=0
"$build/fanin" run "$@" --out "$out" --producers 1,2,4,8,16,32,64,100 --config \
"handshake/every/$signal,vyukov/every/$signal,sharded_mutex/edge/$signal,vyukov/edge/$signal,sharded_mutex/every/$signal" ||
	code=$?
[ -f "$out/summary.csv" ] || exit "$code"
plots/plot.sh "$out" || code=$?
echo
echo "$out"
exit "$code"
