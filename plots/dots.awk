# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# Lays out a dot plot's data for gnuplot, on top of csv.awk: many configurations, a line each, a panel
# for each producer count. Environment: SUMMARY (also the operand); MEASURE, the column drawn, with
# its _lo and _hi; ROW_PARTS, how many parts of a configuration name its line, what follows being
# the series; SORTED=yes: the least at the highest count comes first. It writes numbers and harmless
# words alone, selects, sorts and names; it computes nothing.
#
#   points   a block a series and panel: value, lo, hi, line, 1 if drawn hollow
#   bad      a block a panel: the line of each configuration some of whose samples were not ok
#   lines    a line's label each, the lowest on the page first
#   panels   the producer counts; series: their names, blanks left out
#   facts    a line each: CPUs, quick (yes, no), lowest coverage

function part_of(config, from, to,    part, i, text)
{
        split(config, part, "/")
        for (i = from; i <= to && i in part; i++)
                text = text (i > from ? "/" : "") part[i]
        return text
}

# Defaults of keys are left out of a label.
function short(text)
{
        text = text ":"
        sub(/:kind=ticket:/, ":", text)
        sub(/:shards=1:/, ":", text)
        sub(/:by=producer:/, ":", text)
        sub(/:capacity=[0-9]+:/, ":", text)
        sub(/:$/, "", text)
        return text
}

function bar(end)
{
        return end == "NA" ? "NaN" : end
}

FILENAME == ENVIRON["SUMMARY"] {
        config = config_field("config")
        producers = count_field("producers")
        value = number_or_na_field(ENVIRON["MEASURE"] (ENVIRON["MEASURE"] in column ? "" : "_median"))
        lo = number_or_na_field(ENVIRON["MEASURE"] "_lo")
        hi = number_or_na_field(ENVIRON["MEASURE"] "_hi")
        overlap = number_or_na_field("overlap_median")
        measured_row()
        if (number_or_na_field("coverage") != "NA" && (coverage == "" || field("coverage") < coverage))
                coverage = field("coverage") + 0
        name = part_of(config, 1, ENVIRON["ROW_PARTS"])
        rest = part_of(config, ENVIRON["ROW_PARTS"] + 1, 9)
        if (rest == "")
                fail_field("config", "of the form queue/wake/signal/alloc")
        if (!(name in line_known)) {
                line_known[name] = 1
                line[++lines] = name
        }
        if (!(rest in series_known)) {
                series_known[rest] = 1
                series[++series_count] = rest
        }
        if (!(producers in panel_known)) {
                panel_known[producers] = 1
                for (n = ++panels; n > 1 && panel[n - 1] > producers + 0; n--)
                        panel[n] = panel[n - 1]
                panel[n] = producers + 0
        }
        if (field("samples_bad") !~ /^[0-9]+$/)
                fail_field("samples_bad", "a count")
        if (field("samples_bad") > 0)
                bad[name, producers] = 1
        if (value == "NA" || value + 0 == 0)
                next
        if ((name, rest, producers) in point)
                fail(FILENAME " line " FNR ", column producers: a second row for " config " at " producers)
        point[name, rest, producers] = value " " bar(lo) " " bar(hi)
        hollow[name, rest, producers] = overlap != "NA" && overlap < 0.5
        if (!((name, producers) in least) || value + 0 < least[name, producers])
                least[name, producers] = value + 0
}

END {
        need_rows(ENVIRON["SUMMARY"])
        if (failed)
                exit 2
        for (p = 1; p <= panels && !drawn; p++)
                for (i = 1; i <= lines; i++)
                        drawn = drawn || (line[i], panel[p]) in least
        if (!drawn)
                fail(ENVIRON["SUMMARY"] ": no row with a value in column " ENVIRON["MEASURE"])
        # Insertion sort; what was not measured at the highest count goes last.
        for (i = 2; ENVIRON["SORTED"] == "yes" && i <= lines; i++) {
                name = line[i]
                for (n = i; n > 1 && rank(line[n - 1]) > rank(name); n--)
                        line[n] = line[n - 1]
                line[n] = name
        }
        # The first line is drawn at the top.
        for (i = lines; i >= 1; i--)
                print short(line[i]) > "lines"
        for (s = 1; s <= series_count; s++) {
                print series[s] > "series"
                for (p = 1; p <= panels; p++) {
                        for (i = 1; i <= lines; i++)
                                if ((line[i], series[s], panel[p]) in point)
                                        print point[line[i], series[s], panel[p]], lines - i, \
                                                hollow[line[i], series[s], panel[p]] > "points"
                                else
                                        print "NaN NaN NaN", lines - i, 0 > "points"
                        printf "\n\n" > "points"
                }
        }
        for (p = 1; p <= panels; p++) {
                print panel[p] > "panels"
                print -9 > "bad" # below the page: a block may not be empty
                for (i = 1; i <= lines; i++)
                        if ((line[i], panel[p]) in bad)
                                print lines - i > "bad"
                printf "\n\n" > "bad"
        }
        print cpus > "facts"
        print quick > "facts"
        print coverage == "" ? "NA" : coverage > "facts"
}

function rank(name)
{
        return (name, panel[panels]) in least ? least[name, panel[panels]] : 1e300
}
