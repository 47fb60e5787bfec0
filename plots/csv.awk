# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# Reads our CSV files for the plots and the paper: comma separated, first line header, no quoting.
# Columns are found by name, and a field is handed on only if it is what the caller asked for;
# anything else is one sentence naming file, line and column, and exit 2.

function fail(sentence)
{
        print sentence > "/dev/stderr"
        failed = 1
        exit 2
}

function fail_field(name, wanted,    value)
{
        value = substr(field(name), 1, 40)
        gsub(/[^ -~]/, "?", value) # what a terminal would obey is not echoed
        fail(FILENAME " line " FNR ", column " name ": '" value "' is not " wanted)
}

function field(name)
{
        if (!(name in column))
                fail(FILENAME " line 1: no column " name)
        return $(column[name])
}

# Also takes the published "no submit (build and free the request)".
function config_field(name)
{
        if (field(name) !~ /^[a-z0-9_:=\/.() -]+$/ || length(field(name)) > 120)
                fail_field(name, "a configuration")
        return field(name)
}

function count_field(name)
{
        if (field(name) !~ /^[1-9][0-9]*$/ || length(field(name)) > 9)
                fail_field(name, "a count")
        return field(name)
}

function is_number(text)
{
        return length(text) <= 30 && text ~ /^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/
}

function number_or_na_field(name)
{
        if (field(name) != "NA" && !is_number(field(name)))
                fail_field(name, "a number of at least 0, or NA")
        return field(name)
}

function word_field(name)
{
        if (field(name) !~ /^[A-Za-z0-9 .-]+$/ || length(field(name)) > 60)
                fail_field(name, "a word")
        return field(name)
}

# What each figure of measured cells asks of a row; sets cpus and quick.
function measured_row()
{
        if (field("kind") != "measured")
                fail_field("kind", "measured, and this figure shows no other kind as measured")
        if (field("quick") !~ /^(yes|no)$/)
                fail_field("quick", "yes or no")
        quick = field("quick")
        cpus = number_or_na_field("cpus_effective")
        if (cpus + 0 <= 0)
                fail_field("cpus_effective", "above 0")
}

# A missing operand is no failure of awk's own, so the end asks which files were seen.
function need_rows(path)
{
        if (!failed && !(path in rows))
                fail(path " line 2: no row of data")
}

BEGIN { FS = "," }

{ sub(/\r$/, "") }

FNR == 1 {
        split("", column)
        columns = NF
        for (i = 1; i <= NF; i++) {
                if ($i !~ /^[a-z][a-z0-9_]*$/ || $i in column)
                        fail(FILENAME " line 1: column " i " has no name, or a name not its own")
                column[$i] = i
                column_name[i] = $i
        }
        next
}

NF != columns {
        fail(FILENAME " line " FNR ": " NF " fields, where line 1 names " columns)
}

{ rows[FILENAME]++ }
