#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/latency.sh [BUILD]: latency against load, to saturation: the published three, and lanes,
# of whose wakes most are elided. Environment: QUICK=1 (few and short samples, marked quick), OUT=DIR (where to),
# PRODUCERS=, SAMPLES= (others than 4 and 5), RATE= (rates of its own instead). Exits as `fanin latency` does.
set -eu
build=${1:-build}
host=$(uname -n | tr -cd 'A-Za-z0-9-')
out=${OUT:-runs/$(date -u +%Y-%m-%dT%H%M%SZ)-$host-latency}
[ ! -e "$out" ] || {
	echo "latency.sh: OUT can't be '$out': it is there; allowed: a directory that does not exist yet" >&2
	exit 2
}
if [ "${QUICK:-0}" = 1 ]; then
	set -- --quick --samples "${SAMPLES:-3}" --duration 0.2
else
	# Room for 5,000,000 requests a second.
	set -- --samples "${SAMPLES:-5}" --duration 1 --max-backlog 768M
fi
mkdir -p "$(dirname "$out")"
code=0
"$build/fanin" latency "$@" ${RATE:+--rate "$RATE"} --out "$out" --producers "${PRODUCERS:-4}" --config reference,lanes/flag || code=$?
[ -f "$out/summary.csv" ] || exit "$code"
FIGURE=latency plots/plot.sh "$out" || [ "$code" != 0 ] || code=$?
echo
echo "$out"
exit "$code"
