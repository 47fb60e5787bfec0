#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/wake.sh [BUILD]: when the FFI thread is woken, and how: queue x policy x signal, every
# combination that can be honoured. QUICK=1, OUT=DIR as in queues.sh.
set -eu
build=${1:-build}
host=$(uname -n | tr -cd 'A-Za-z0-9-')
out=${OUT:-runs/$(date -u +%Y-%m-%dT%H%M%SZ)-$host-wake}
if [ "${QUICK:-0}" = 1 ]; then
	set -- --quick --samples 3 --min-time 0.02 --max-sample 0.2
else
	set -- --samples 7 --min-time 0.04 --max-sample 0.3
fi
# What can't be honoured together the program refuses; so it is asked.
configs=
for queue in mutex vyukov lanes glib_async; do
	for wake in every edge pending flag asym own; do
		for signal in eventfd futex condvar pipe socketpair uv_async none; do
			config=$queue/$wake/$signal/slab
			"$build/fanin" sample --config "$config" --producers 1 --per-producer 1 --min-time 0.001 \
				--max-sample 0.001 >/dev/null 2>&1 || continue
			configs="$configs${configs:+,}$config"
		done
	done
done
mkdir -p "$(dirname "$out")"
code=0
"$build/fanin" run "$@" --out "$out" --producers 1,8 --config "$configs" || code=$?
[ -f "$out/summary.csv" ] || exit "$code"
FIGURE=wake plots/plot.sh "$out" || code=$?
echo
echo "$out"
exit "$code"
