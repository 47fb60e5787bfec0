#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# usage: tests/readme.sh BUILD: the README's table is that of the committed run, what it shows and links
# to exists, and its commands are targets.
set -eu
fail() {
	echo "readme.sh: $*" >&2
	exit 1
}
table=$(awk -f plots/csv.awk -f plots/table.awk experiments/data/collapse/summary.csv)
shown=$(sed -n '/^| configuration |/,/^$/p' README.md | sed '/^$/d')
[ "$table" = "$shown" ] || fail "its table is not the one of experiments/data/collapse: $table"
table=$(awk -f plots/csv.awk -f plots/bars.awk experiments/data/bars/bars.csv)
shown=$(sed -n '/^| what | figure |/,/^$/p' README.md | sed '/^$/d')
[ "$table" = "$shown" ] || fail "its bars are not those of experiments/data/bars: $table"
# Its sentences: on the edge 7 to 10 times every submit at 8 producers, intervals apart, either queue.
awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
	$c["producers"] == 8 && $1 ~ /^(vyukov|sharded)/ {
		edge = $1 ~ /\/edge\//
		m[edge, ++n[edge]] = $c["submit_per_s_median"]
		if (edge && (!lo || $c["submit_per_s_lo"] < lo)) lo = $c["submit_per_s_lo"]
		if (!edge && $c["submit_per_s_hi"] > hi) hi = $c["submit_per_s_hi"]
	}
	END {
		for (i = 1; i <= 2; i++)
			for (j = 1; j <= 2; j++)
				if (m[1, i] < 7 * m[0, j] || m[1, i] > 10 * m[0, j]) exit 1
		exit !(n[0] == 2 && n[1] == 2 && lo + 0 > hi + 0)
	}' experiments/data/collapse/summary.csv || fail "its sentence on the wake is not borne out by the data"
# … and lane_rings costs more than lanes at every count.
awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
	$1 ~ /^lane(s|_rings)\// {
		name = $1 ~ /^lanes/
		value = $c["producer_cpu_ns_per_submit_median"]
		if (!((name, $2) in least) || value < least[name, $2]) least[name, $2] = value
		counts[$2]
	}
	END { for (k in counts) { n++; if (least[0, k] <= least[1, k]) exit 1 } exit n != 5 }
' experiments/data/bars/summary.csv || fail "its sentence on lane_rings is not borne out by the data"
# … and of the shards, at 8 producers: 22 to 31 ns with 16 lists, 67 ns to 0.15 ms with one.
awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
	$2 == 8 && match($1, /:shards=(1|16)[:\/]/) {
		n = substr($1, RSTART, RLENGTH - 1)
		value = $c["producer_cpu_ns_per_submit_median"]
		if (!(n in lo) || value < lo[n]) lo[n] = value
		if (value > hi[n]) hi[n] = value
	}
	END { printf "%.0f %.0f %.0f %.2f", lo[":shards=16"], hi[":shards=16"], lo[":shards=1"], hi[":shards=1"] / 1e6 }
' experiments/data/shards/summary.csv | grep -qx '22 31 67 0.15' || fail "its sentence on the shards is not borne out by the data"
# … and of latency: the hand-off saturated at 50,000 a second, the others not below 5 million.
awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ q = $c["config"]; all[q] }
	$c["saturated"] == "yes" && (!(q in at) || $c["rate_per_s"] + 0 < at[q]) { at[q] = $c["rate_per_s"] + 0 }
	END { for (q in all) if (++n && q in at && at[q] < 5000000 && !(q ~ /^handshake/ && at[q] == 50000)) bad = 1
		exit bad || n != 4 || !("handshake/every/eventfd/malloc" in at) }
' experiments/data/latency/summary.csv || fail "its sentence on latency is not borne out by the data"
"$1/fanin" list --format csv | awk -F, 'NR > 1 && $2 != "NA" { print $1 }' | while read -r queue; do
	grep -q "^| queue | .*\`${queue}[:\`]" README.md || fail "its table of configurations lacks $queue"
done
grep -o '](\([^)]*\))' README.md | sed 's/^](//; s/)$//' | while read -r link; do
	[ -e "$link" ] || fail "it links to $link, which is not there"
done
grep -o 'make [a-z_][a-z_-]*' README.md | sort -u | while read -r _ target; do
	make -n "$target" >/dev/null 2>&1 || [ "$target" = plot ] || fail "make $target is no target"
done
