#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/self.sh BUILD BARE: what the engine's compiled-in counters cost: the program of BUILD against
# itself (A/A: what can be told here), then against BARE's, which was built without them. QUICK=1: few samples.
# OUT=DIR: keeps both runs, in DIR-aa and DIR-bare.
set -eu
build=$1 bare=$2
if [ "${QUICK:-0}" = 1 ]; then
	set -- --quick --samples 3 --min-time 0.01 --max-sample 0.1
else
	set -- --samples 21 --min-time 0.05 --max-sample 0.5
fi
run() { # NAME OPTION…: the lines on the twins
	name=$1
	shift
	"$build/fanin" run "$@" ${OUT:+--out "$OUT-$name"} --aa --producers 1,2 \
		--config private/pending/eventfd/slab,lanes/flag/eventfd/slab | sed -n '/b over a/,/^[^ ].*intervals cover/p'
}
echo "with counters, against itself:"
run aa "$@"
echo
echo "a: with counters; b: without ($bare/fanin):"
run bare "$@" --twin-program "$bare/fanin"
