#!/bin/sh
# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# plot.sh RUN [DIR FORMAT...] draws the figure of the run directory RUN into DIR (RUN itself) in
# each FORMAT: svg and png by default, pdf for the paper. FIGURE=collapse|latency|queues|shards|wake says
# which; else the directory's name does (queues, or ending in -queues), or it is collapse. Exits: 0 drawn, 1 no gnuplot or it failed,
# 2 usage, or data that cannot be drawn. A figure is there whole or not at all.
#
# No name or text from outside becomes code: paths and facts go by environment, and gnuplot reads
# what an awk script has checked and written under fixed names, in a directory of its own.
set -eu
unset CDPATH
export LC_ALL=C # decimal points

fail() {
        printf '%s\n' "$2" >&2
        exit "$1"
}

plots=$(cd -- "$(dirname -- "$0")" && pwd)
[ "${1-}" ] || fail 2 'usage: plots/plot.sh RUN [DIR FORMAT...], where RUN is a run directory'
[ -d "$1" ] || fail 2 "$1: no such run directory"
run=$(cd -- "$1" && pwd)
out=$(cd -- "${2:-$1}" && pwd)
shift "$(($# > 1 ? 2 : 1))"
[ $# -gt 0 ] || set -- svg png
command -v gnuplot >/dev/null || fail 1 'gnuplot is missing: apt-get install gnuplot-nox'

figure=${FIGURE:-$(basename -- "$run" | sed 's/.*-//')}
case $figure in
queues)
        layout=dots
        export MEASURE=producer_cpu_ns_per_submit ROW_PARTS=1 SORTED=yes FANIN_UNIT=1 \
                FANIN_TITLE='What a submit costs its producer' FANIN_AXIS='CPU ns per submit'
        ;;
wake)
        layout=dots
        export MEASURE=submit_per_s ROW_PARTS=2 SORTED=no FANIN_UNIT=1000000 \
                FANIN_TITLE='Submit rate by queue, wake policy and signal' FANIN_AXIS='M submits/s'
        ;;
shards)
        layout=shards
        export MEASURE=producer_cpu_ns_per_submit FANIN_TITLE='The lock or the shards?'
        ;;
latency) layout=latency ;;
*)
        [ -z "${FIGURE-}" ] || [ "$FIGURE" = collapse ] ||
                fail 2 "FIGURE can't be '$FIGURE'; allowed: collapse, latency, queues, shards, wake"
        figure=collapse layout=collapse
        ;;
esac

export SUMMARY="$run/summary.csv"
data=$(cd -- "${FANIN_DATA:-$plots/../experiments/data}" && pwd)
export PUBLISHED="$data/published/nim-ffi-apple-m5-2026-06-25.csv"
for file in "$SUMMARY" "$PUBLISHED"; do
        [ -s "$file" ] || fail 2 "$file line 1: the file is missing or empty"
done

tmp=$(mktemp -d "$out/.plot.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cd "$tmp"
if [ $layout = collapse ]; then
        awk -f "$plots/csv.awk" -f "$plots/collapse.awk" "$SUMMARY" "$PUBLISHED"
else
        awk -f "$plots/csv.awk" -f "$plots/$layout.awk" "$SUMMARY"
fi

: >machine
[ ! -f "$run/machine.json" ] || awk -f "$plots/machine.awk" "$run/machine.json" >machine
fact() {
        awk -F '\t' -v key="$1" '$1 == key { print substr($2, 1, 60) }' machine
}
cpu=$(fact cpu_model)
date=$(fact date_utc)
commit=$(fact commit | cut -c 1-12)
case $(fact dirty) in true) commit="$commit and changes" ;; esac
export FANIN_MACHINE="${cpu:-unknown CPU}, ${date:-undated}, commit ${commit:-unknown}"

case $layout in
dots) FANIN_CURVES=$(wc -l <lines) ;;
*) FANIN_CURVES=$(wc -l <curves) ;;
esac
export FANIN_CURVES

draw() { # as FORMAT, into the file named NAME
        FANIN_FORMAT=$1 gnuplot -d "$plots/style.gp" "$plots/$layout.gp" >"$2" && [ -s "$2" ]
}

for format; do
        case $format in
        svg | pdf) draw "$format" drawn || fail 1 "gnuplot could not draw $format" ;;
        png)
                if gnuplot -e 'set terminal pngcairo' 2>/dev/null; then
                        draw png drawn
                elif gnuplot -e 'set terminal png' 2>/dev/null; then
                        draw png-plain drawn
                else
                        echo "this gnuplot has no png terminal: svg only" >&2
                        rm -f "$out/$figure.png" # an older one would not be this run's
                        continue
                fi || fail 1 'gnuplot could not draw png'
                ;;
        *) fail 2 "format $format: not one of svg, png, pdf" ;;
        esac
        mv drawn "$out/$figure.$format"
done
