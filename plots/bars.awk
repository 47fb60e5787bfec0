# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# Prints the README's table of a run's bars.csv, on top of csv.awk. tests/readme.sh holds the README
# against it.

function rounded(name)
{
        if (field(name) !~ /^-?[0-9]/ && field(name) != "NA")
                fail_field(name, "a number or NA")
        return field(name) == "NA" ? "NA" : sprintf("%.3g", field(name))
}

FNR == 2 {
        print "| what | figure | bar | margin, ns | |"
        print "| --- | --- | --- | --- | --- |"
}

{
        margin = rounded("margin") == "NA" ? "" : rounded("margin") " [" rounded("margin_lo") ", " \
                rounded("margin_hi") "]"
        print "| " config_field("what") " | " rounded("figure") " | " rounded("bar") " | " margin " | " \
                verdict() " |"
}

function verdict()
{
        if (field("verdict") !~ /^[a-z_0-9 :]+$/)
                fail_field("verdict", "words")
        return field("verdict")
}

END {
        if (failed)
                exit 2
}
