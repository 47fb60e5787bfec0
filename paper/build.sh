#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# Builds paper/build/fanin.pdf from the committed data (FANIN_DATA names another directory of the
# same form), installing LaTeX first where it is missing and may be. A number or a figure without
# data, a claim that the data don't bear out, and an undefined reference fail the build.
set -eu
unset CDPATH
export LC_ALL=C # decimal points

fail() {
        printf '%s\n' "$2" >&2
        exit "$1"
}

paper=$(cd -- "$(dirname -- "$0")" && pwd)
"$paper/../experiments/deps.sh" paper
plots=$paper/../plots
FANIN_DATA=$(cd -- "${FANIN_DATA:-$paper/../experiments/data}" && pwd)
export FANIN_DATA
run=$FANIN_DATA/collapse
[ -d "$run" ] || fail 2 "$run: no such run directory; the paper is built from a committed run"
mkdir -p "$paper/build"
cd "$paper/build"
rm -f fanin.pdf

"$plots/plot.sh" "$run" . pdf
set -- dataset=collapse "$run/summary.csv"
for file in "$FANIN_DATA"/published/*.csv; do
        set -- "$@" "dataset=$(basename "$file" .csv)" "$file"
done
awk -f "$plots/csv.awk" -f "$paper/data.awk" "$@" >data.tex
awk -f "$plots/machine.awk" "$run/machine.json" | awk -F '\t' '
        { fact[$1] = $2 }
        END {
                sub(/ .*/, "", fact["kernel"]) # the release; the rest is its build
                if ("commit" in fact)
                        fact["commit"] = substr(fact["commit"], 1, 12) \
                                (fact["dirty"] == "true" ? " and changes" : "")
                for (key in fact) {
                        if (fact[key] == "")
                                continue
                        gsub(/_/, "\\_", fact[key])
                        print "\\expandafter\\def\\csname fanin@machine@" key \
                                "\\endcsname{" fact[key] "}"
                }
        }' >>data.tex

export TEXINPUTS=.:..: BIBINPUTS=..:
latex() {
        pdflatex -no-shell-escape -interaction=nonstopmode -halt-on-error ../fanin.tex >latex.log ||
                fail 1 "$(grep -A 3 '^!' latex.log || tail -n 20 latex.log)"
}
latex
bibtex -terse fanin || fail 1 'bibtex failed on paper/references.bib'
latex
latex
! grep -E '^(LaTeX|Package).*(undefined|multiply defined)' fanin.log >&2 ||
        fail 1 'a reference is undefined: see above'
echo "paper/build/fanin.pdf"
