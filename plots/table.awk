# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# Prints the README's table of a run's summary.csv, on top of csv.awk: the rates at 1, 8 and 100
# producers. tests/readme.sh holds the README against it.

function rate(name)
{
        return number_or_na_field(name) == "NA" ? "NA" : sprintf("%.3g", field(name) / 1e6)
}

{
        config = config_field("config")
        producers = count_field("producers")
        if (!(config in known)) {
                known[config] = 1
                order[++configs] = config
        }
        text[config, producers] = rate("submit_per_s_median") " [" rate("submit_per_s_lo") ", " \
                rate("submit_per_s_hi") "]" (field("overlap_median") < 0.5 ? " *" : "")
        wakes[config, producers] = sprintf("%.2g", field("wakes_per_submit"))
}

END {
        if (failed)
                exit 2
        print "| configuration | 1 producer | 8 | 100 | wakes a submit at 8 |"
        print "| --- | --- | --- | --- | --- |"
        for (i = 1; i <= configs; i++) {
                config = order[i]
                name = config
                sub(/\/eventfd\/malloc$/, "", name)
                print "| `" name "` | " text[config, 1] " | " text[config, 8] " | " \
                        text[config, 100] " | " wakes[config, 8] " |"
        }
}
