#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/stalled.sh [BUILD]: who still gets through when a producer stops inside its push?
# Prints the table of outcomes and leaves stalled.csv in a run directory (columns: stalled.c).
# OUT=DIR: where to. The outcomes are no times: they are the same on every machine.
set -eu
build=${1:-build}
host=$(uname -n | tr -cd 'A-Za-z0-9-')
out=${OUT:-runs/$(date -u +%Y-%m-%dT%H%M%SZ)-$host-stalled}

if [ -z "${MAKELEVEL:-}" ]; then # else make has built it
	make --no-print-directory BUILD="$build" "$build/stalled" >&2
fi
mkdir -p "$(dirname "$out")"
mkdir "$out" || exit 2
code=0
"$build/stalled" --csv "$out/stalled.csv" || code=$?
echo
echo "$out"
exit "$code"
