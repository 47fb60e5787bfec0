#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/queues.sh [BUILD]: every queue of this build under the same wake (pending, which all
# can honour), slab, over producers. QUICK=1: marked quick, few samples. WAKE=, SIGNAL=: another. OUT=DIR: where to.
set -eu
build=${1:-build}
host=$(uname -n | tr -cd 'A-Za-z0-9-')
out=${OUT:-runs/$(date -u +%Y-%m-%dT%H%M%SZ)-$host-queues}
end=${WAKE:-pending}/${SIGNAL:-eventfd}/slab
# The binary knows its queues; bounded ones get room for a round, or they would measure being full.
configs=$("$build/fanin" list --format csv | awk -F, -v end="$end" '
	NR > 1 && $NF == "no" { printf "%s%s%s/%s", comma, $1, $4 == "yes" ? ":capacity=1048576" : "", end; comma = "," }')
if [ "${QUICK:-0}" = 1 ]; then
	set -- --quick --samples 3 --min-time 0.02 --max-sample 0.2 --deadline 6
else
	set -- --samples 7 --min-time 0.04 --max-sample 0.3 --deadline 6
fi
mkdir -p "$(dirname "$out")"
code=0
"$build/fanin" run "$@" --out "$out" --producers 1,8,100 --config "$configs" || code=$?
[ -f "$out/summary.csv" ] || exit "$code"
FIGURE=queues plots/plot.sh "$out" || code=$?
echo
echo "$out"
exit "$code"
