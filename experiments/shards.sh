#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/shards.sh [BUILD]: the lock or the shards? Locks that sleep, spin and yield, and spin in
# order of arrival, and the lock-free list, over the number of shards; by CPU too where the lock costs
# little. Everything else is equal. Environment: see figure.sh.
set -eu
build=${1:-build}
list=$("$build/fanin" list --format csv)
configs=
for queue in sharded_mutex adaptive spin ck_lock:kind=ticket ck_lock:kind=mcs sharded_vyukov spin:by=cpu \
	sharded_vyukov:by=cpu; do
	printf '%s\n' "$list" | grep -q "^${queue%%:*}," || continue # left out of this build
	for shards in 1 2 4 16 64; do
		configs="$configs${configs:+,}$queue:shards=$shards/pending/eventfd/slab"
	done
done
exec experiments/figure.sh "$build" shards 8,100 "$configs"
