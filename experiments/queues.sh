#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: experiments/queues.sh [BUILD]: every queue of this build under the same wake (pending, which all can
# honour), with slab. Environment: see figure.sh; SIGNAL= another than eventfd.
set -eu
build=${1:-build}
list=$("$build/fanin" list --format csv)
# The binary knows its queues; bounded ones get room for a round, or they would measure being full.
configs=$(printf '%s\n' "$list" | awk -F, -v end="pending/${SIGNAL:-eventfd}/slab" '
	NR > 1 && $2 != "NA" {
		printf "%s%s%s/%s", comma, $1, $4 == "yes" ? ":capacity=1048576" : "", end
		comma = ","
	}')
exec experiments/figure.sh "$build" queues 1,8,100 "$configs"
