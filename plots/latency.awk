# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# Lays out the latency figure's data for gnuplot, on top of csv.awk: a curve for each configuration,
# over the rate asked, a panel for each producer count. Environment: SUMMARY (also the operand). It
# selects, sorts and names; it computes nothing. Closed loops have no rate, and are left out.
#
#   points   a block a curve and panel: rate, p50, p99, its lo and hi (ns), 1 if saturated
#   curves   a label each; panels: the producer counts
#   facts    a line each: CPUs, quick (yes, no), lowest coverage

function or_nan(value)
{
        return value == "NA" ? "NaN" : value
}

FILENAME == ENVIRON["SUMMARY"] {
        config = config_field("config")
        producers = count_field("producers")
        rate = number_or_na_field("rate_per_s")
        values = or_nan(number_or_na_field("latency_p50_ns_median")) " " \
                or_nan(number_or_na_field("latency_p99_ns_median")) " " \
                or_nan(number_or_na_field("latency_p99_ns_lo")) " " \
                or_nan(number_or_na_field("latency_p99_ns_hi"))
        measured_row()
        if (field("saturated") !~ /^(yes|no|NA)$/)
                fail_field("saturated", "yes, no or NA")
        if (number_or_na_field("coverage") != "NA" && (coverage == "" || field("coverage") < coverage))
                coverage = field("coverage") + 0
        if (rate == "NA" || rate + 0 == 0 || field("saturated") == "NA")
                next
        if (!(config in known)) {
                known[config] = 1
                curve[++curves] = config
        }
        if (!(producers in panel_known)) {
                panel_known[producers] = 1
                for (n = ++panels; n > 1 && panel[n - 1] > producers + 0; n--)
                        panel[n] = panel[n - 1]
                panel[n] = producers + 0
        }
        key = config SUBSEP (producers + 0)
        for (n = ++size[key]; n > 1 && order[key, n - 1] > rate + 0; n--)
                order[key, n] = order[key, n - 1]
        order[key, n] = rate + 0
        point[key, rate + 0] = rate " " values " " (field("saturated") == "yes")
}

END {
        need_rows(ENVIRON["SUMMARY"])
        if (failed)
                exit 2
        if (!curves)
                fail(ENVIRON["SUMMARY"] ": no row of an open loop has samples")
        for (c = 1; c <= curves; c++) {
                print curve[c] > "curves"
                for (p = 1; p <= panels; p++) {
                        key = curve[c] SUBSEP panel[p]
                        for (n = 1; n <= size[key]; n++)
                                print point[key, order[key, n]] > "points"
                        if (!size[key])
                                print "NaN NaN NaN NaN NaN 0" > "points" # a block may not be empty
                        printf "\n\n" > "points"
                }
        }
        for (p = 1; p <= panels; p++)
                print panel[p] > "panels"
        print cpus > "facts"
        print quick > "facts"
        print coverage == "" ? "NA" : coverage > "facts"
}
