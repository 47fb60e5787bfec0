# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# Prints the facts of a machine.json, one "key<TAB>value" a line, for the plots and the paper: those
# of the outermost object that stand on a line of their own, keeping only characters that mean
# nothing to gnuplot, nor (but for "_") to LaTeX. No JSON parser: our files have one key a line.

match($0, /^[ \t]*"/) {
        if (!indent)
                indent = RLENGTH
        if (RLENGTH != indent || $0 !~ /^[ \t]*"[a-z][a-z0-9_]*"[ \t]*:[ \t]*[^ \t\[{]/)
                next
        split($0, quoted, "\"")
        value = $0
        sub(/^[^:]*:[ \t]*/, "", value)
        sub(/[ \t\r]*,?[ \t\r]*$/, "", value)
        gsub(/[^A-Za-z0-9 .,:;()@+\/=_-]/, "", value)
        if (value != "" && value != "null")
                print quoted[2] "\t" substr(value, 1, 200)
}
