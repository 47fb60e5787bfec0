#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/shards.sh [BUILD]: the lock or the shards? Each lock, and the lock-free list, over the
# number of shards, by producer and by CPU, everything else equal. QUICK=1, OUT=DIR as in queues.sh.
set -eu
build=${1:-build}
host=$(uname -n | tr -cd 'A-Za-z0-9-')
out=${OUT:-runs/$(date -u +%Y-%m-%dT%H%M%SZ)-$host-shards}
if [ "${QUICK:-0}" = 1 ]; then
	set -- --quick --samples 3 --min-time 0.02 --max-sample 0.2 --deadline 6
else
	set -- --samples 7 --min-time 0.04 --max-sample 0.3 --deadline 6
fi
configs=
for queue in sharded_mutex adaptive spin ck_lock:kind=ticket ck_lock:kind=mcs sharded_vyukov spin:by=cpu sharded_vyukov:by=cpu; do
	"$build/fanin" list --format csv | grep -q "^${queue%%:*}," || continue
	for shards in 1 2 4 16 64; do
		configs="$configs${configs:+,}$queue:shards=$shards/pending/eventfd/slab"
	done
done
mkdir -p "$(dirname "$out")"
code=0
"$build/fanin" run "$@" --out "$out" --producers 8,100 --config "$configs" || code=$?
[ -f "$out/summary.csv" ] || exit "$code"
FIGURE=shards plots/plot.sh "$out" || code=$?
echo
echo "$out"
exit "$code"
