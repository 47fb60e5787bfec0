# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# Lays out the collapse figure's data for gnuplot, on top of csv.awk: checks the run's summary.csv
# (environment: SUMMARY) and the published curves (PUBLISHED), both also its operands, and writes
# numbers and harmless words alone, under fixed names, into the directory it runs in. It selects,
# sorts and names; it computes nothing.
#
#   points     a block a curve: producers, rate, lo and hi per second, 1 if drawn hollow
#   published  a block a curve: producers, rate per second
#   curves     a line a curve, first of points, then of published: its block, whether it is
#              published, colour and style number, label without blanks
#   facts      a line each: CPUs, quick (yes, no), lowest coverage, the heading of the measured
#              curves, that of the published ones, and what these share

function part_of(config, from, to,    part, i, text)
{
        split(config, part, "/")
        for (i = from; i <= to && i in part; i++)
                text = text (i > from ? "/" : "") part[i]
        return text
}

# The place of a name in its table, in order of appearance: so a queue keeps its colour in both
# kinds of curve, and a wake policy its dashes and marker.
function place(name, table, key)
{
        if (!((key, name) in table))
                table[key, name] = ++table[key]
        return table[key, name]
}

function add_point(kind, config, producers, line,    curve, n)
{
        if (config !~ /^[^\/ ]+\/[^\/ ]+(\/[^\/ ]+)*$/)
                fail_field("config", "of the form queue/wake/signal/alloc")
        curve = place(config, curves, kind)
        config_of[kind, curve] = config
        if ((kind, curve, producers) in point)
                fail(FILENAME " line " FNR ", column producers: a second row for " config \
                        " at " producers)
        point[kind, curve, producers] = line
        # Sorted as it comes, so that a curve's line never runs back.
        for (n = ++size[kind, curve]; n > 1 && order[kind, curve, n - 1] > producers; n--)
                order[kind, curve, n] = order[kind, curve, n - 1]
        order[kind, curve, n] = producers
}

# What all curves of a kind share (signal and allocator) is said once in the heading.
function shared_end(kind,    i, end)
{
        end = part_of(config_of[kind, 1], 3, 9)
        for (i = 2; i <= curves[kind]; i++)
                if (part_of(config_of[kind, i], 3, 9) != end)
                        end = ""
        return end
}

function write_curves(kind, shared,    i, n, config, label, style)
{
        for (i = 1; i <= curves[kind]; i++) {
                for (n = 1; n <= size[kind, i]; n++)
                        print point[kind, i, order[kind, i, n]] > kind
                printf "\n\n" > kind
                config = config_of[kind, i]
                label = part_of(config, 1, shared ? 2 : 9)
                style = part_of(config, 2, shared ? 2 : 9)
                print i - 1, kind == "published", place(part_of(config, 1, 1), looks, "queue"),
                        place(style, looks, "wake"), label > "curves"
        }
}

# What gnuplot calls a number that is not there.
function bar(end)
{
        return end == "NA" ? "NaN" : end
}

function add_measured(    config, producers, rate, lo, hi, overlap)
{
        config = config_field("config")
        producers = count_field("producers")
        rate = number_or_na_field("submit_per_s_median")
        lo = number_or_na_field("submit_per_s_lo")
        hi = number_or_na_field("submit_per_s_hi")
        overlap = number_or_na_field("overlap_median")
        measured_row()
        seen[config] = 1
        if (rate == "NA" || rate + 0 == 0) # nothing to show on a log axis
                return
        if (number_or_na_field("coverage") != "NA") {
                coverage = field("coverage") + 0
                if (coverage_from == "" || coverage < coverage_from)
                        coverage_from = coverage
                if (coverage > coverage_to)
                        coverage_to = coverage
        }
        add_point("points", config, producers,
                producers " " rate " " bar(lo) " " bar(hi) " " (overlap != "NA" && overlap < 0.5))
        drawn[config] = 1
}

FILENAME == ENVIRON["SUMMARY"] { add_measured() }

FILENAME == ENVIRON["PUBLISHED"] {
        rate = number_or_na_field("submit_per_s")
        machine = word_field("machine")
        if (rate != "NA" && rate > 0)
                add_point("published", config_field("config"), count_field("producers"),
                        count_field("producers") " " rate)
}

END {
        need_rows(ENVIRON["SUMMARY"])
        need_rows(ENVIRON["PUBLISHED"])
        if (failed)
                exit 2
        for (config in seen)
                if (!(config in drawn))
                        print config ": no row with a submit rate, so no curve" > "/dev/stderr"
        if (!curves["points"])
                fail(ENVIRON["SUMMARY"] ": no configuration has a submit rate")
        here = shared_end("points")
        there = shared_end("published")
        write_curves("points", here)
        write_curves("published", there)
        sub(/ [0-9]+ cores$/, ",&", machine)
        print cpus > "facts"
        print quick > "facts"
        print coverage_from == "" ? "NA" : coverage_from > "facts"
        print "measured here" (here ? " (" here ")" : "") > "facts"
        print "published: " machine > "facts"
        print there ? "(" there ")" : "" > "facts"
}
