# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# Writes the paper's numbers as LaTeX macros, on top of csv.awk and after it: each number of each
# row of a CSV file as fanin@DATASET@CONFIG@PRODUCERS@COLUMN, where the operand dataset=NAME goes
# before its file. Beside the number itself stand its printed forms, which only change the unit or
# the digits: COLUMN/3 (three significant digits), COLUMN/M (the same, in millions) and
# COLUMN/percent. A field that is NA gives no macro, so that a sentence needing it can't be printed.

function define(name, value)
{
        print "\\expandafter\\def\\csname fanin@" name "\\endcsname{" value "}"
}

# Three significant digits; but of a published number below 1 only those that were published.
function digits(value,    text, part)
{
        if (value >= 1000)
                return sprintf("%.0f", value)
        if (value == 0)
                return "0"
        text = sprintf(kind == "measured" || value >= 1 ? "%#.3g" : "%.3g", value)
        sub(/\.$/, "", text)
        if (split(text, part, "e") == 2)
                text = "\\ensuremath{" part[1] "\\times10^{" part[2] + 0 "}}"
        return text
}

function define_number(name, value)
{
        define(name, value)
        define(name "/3", digits(value))
        define(name "/M", digits(value / 1e6))
        define(name "/percent", digits(value * 100))
}

{
        kind = word_field("kind")
        row = dataset "@" config_field("config") "@" count_field("producers")
        for (i = 1; i <= columns; i++) {
                name = column_name[i]
                if (name == "config")
                        continue
                else if (name ~ /^(kind|machine|quick)$/)
                        define(row "@" name, word_field(name))
                else if (number_or_na_field(name) != "NA")
                        define_number(row "@" name, field(name))
        }
}

END {
        if (failed)
                exit 2
        for (i = 1; i < ARGC; i++)
                if (ARGV[i] !~ /^dataset=/)
                        need_rows(ARGV[i])
}
