#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/wake.sh [BUILD]: when the FFI thread is woken, and how. A queue under a lock, a lock-free
# one, lanes and GLib's, under every wake and signal that can be honoured together. Environment: see
# figure.sh.
set -eu
build=${1:-build}
wakes=$("$build/fanin" list --format wakes)
signals=$("$build/fanin" list --format signals)
configs=
for queue in mutex vyukov lanes glib_async; do
	for wake in $wakes; do
		for signal in $signals; do
			config=$queue/$wake/$signal/slab
			# What can't be honoured together the program refuses; so it is asked.
			"$build/fanin" sample --config "$config" --producers 1 --per-producer 1 --min-time 0.001 \
				--max-sample 0.001 >/dev/null 2>&1 || continue
			configs="$configs${configs:+,}$config"
		done
	done
done
exec experiments/figure.sh "$build" wake 1,8 "$configs"
