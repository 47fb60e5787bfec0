#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/figure.sh BUILD NAME PRODUCERS CONFIGS: measures CONFIGS at PRODUCERS and draws the figure
# NAME. What queues.sh, shards.sh and wake.sh share, and their environment: QUICK=1 (few samples, marked
# quick), OUT=DIR (where to), PRODUCERS=, SAMPLES= (others than usual). Exits as `fanin run` does.
set -eu
build=$1 name=$2 producers=${PRODUCERS:-$3} configs=$4
host=$(uname -n | tr -cd 'A-Za-z0-9-')
out=${OUT:-runs/$(date -u +%Y-%m-%dT%H%M%SZ)-$host-$name}
[ ! -e "$out" ] || {
	echo "$name.sh: OUT can't be '$out': it is there; allowed: a directory that does not exist yet" >&2
	exit 2
}
# A deadline for those that spin without yielding, and may not come to an end.
if [ "${QUICK:-0}" = 1 ]; then
	set -- --quick --samples "${SAMPLES:-3}" --min-time 0.02 --max-sample 0.2 --deadline 6
else
	set -- --samples "${SAMPLES:-7}" --min-time 0.04 --max-sample 0.3 --deadline 6
fi
mkdir -p "$(dirname "$out")"
code=0
"$build/fanin" run "$@" --out "$out" --producers "$producers" --config "$configs" || code=$?
[ -f "$out/summary.csv" ] || exit "$code"
FIGURE=$name plots/plot.sh "$out" || [ "$code" != 0 ] || code=$?
echo
echo "$out"
exit "$code"
