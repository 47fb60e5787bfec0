# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# Lays out the shards figure's data for gnuplot, on top of csv.awk: a curve for each lock (a queue and
# its other keys), over the number of shards, a panel for each producer count. Environment: SUMMARY
# (also the operand), MEASURE, the column drawn, with its _lo and _hi. It selects, sorts and names;
# it computes nothing.
#
#   points   a block a curve and panel: shards, value, lo, hi, 1 if drawn hollow
#   curves   a label each; panels: the producer counts
#   facts    a line each: CPUs, quick (yes, no), lowest coverage, what all configurations share

function bar(end)
{
        return end == "NA" ? "NaN" : end
}

FILENAME == ENVIRON["SUMMARY"] {
        config = config_field("config")
        producers = count_field("producers")
        value = number_or_na_field(ENVIRON["MEASURE"] "_median")
        lo = number_or_na_field(ENVIRON["MEASURE"] "_lo")
        hi = number_or_na_field(ENVIRON["MEASURE"] "_hi")
        overlap = number_or_na_field("overlap_median")
        measured_row()
        if (number_or_na_field("coverage") != "NA" && (coverage == "" || field("coverage") < coverage))
                coverage = field("coverage") + 0
        if (value == "NA" || value + 0 == 0)
                next
        queue = config
        sub(/\/.*/, "", queue)
        rest = config
        sub(/^[^\/]*\//, "", rest)
        if (shared != "" && shared != rest)
                fail_field("config", "the wake, signal and alloc of the rows before")
        shared = rest
        if (!match(queue, /:shards=[0-9]+/))
                next # a bound, for comparison elsewhere
        shards = substr(queue, RSTART + 8, RLENGTH - 8)
        sub(/:shards=[0-9]+/, "", queue)
        sub(/:by=producer/, "", queue)
        if (!(queue in known)) {
                known[queue] = 1
                curve[++curves] = queue
        }
        if (!(producers in panel_known)) {
                panel_known[producers] = 1
                for (n = ++panels; n > 1 && panel[n - 1] > producers + 0; n--)
                        panel[n] = panel[n - 1]
                panel[n] = producers + 0
        }
        key = queue SUBSEP producers
        for (n = ++size[key]; n > 1 && order[key, n - 1] > shards + 0; n--)
                order[key, n] = order[key, n - 1]
        order[key, n] = shards + 0
        point[key, shards + 0] = shards " " value " " bar(lo) " " bar(hi) " " \
                (overlap != "NA" && overlap < 0.5)
}

END {
        need_rows(ENVIRON["SUMMARY"])
        if (failed)
                exit 2
        if (!curves)
                fail(ENVIRON["SUMMARY"] ": no configuration has shards")
        for (c = 1; c <= curves; c++) {
                print curve[c] > "curves"
                for (p = 1; p <= panels; p++) {
                        key = curve[c] SUBSEP panel[p]
                        for (n = 1; n <= size[key]; n++)
                                print point[key, order[key, n]] > "points"
                        printf "\n\n" > "points"
                }
        }
        for (p = 1; p <= panels; p++)
                print panel[p] > "panels"
        print cpus > "facts"
        print quick > "facts"
        print coverage == "" ? "NA" : coverage > "facts"
        print shared > "facts"
}
