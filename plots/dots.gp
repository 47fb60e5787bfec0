# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# A dot plot: a line for each configuration, a panel for each producer count, the value on a log axis
# with the interval of its median. It runs after style.gp, in the directory that dots.awk filled. Its
# only arithmetic is the unit. Environment: FANIN_TITLE, FANIN_AXIS, FANIN_UNIT (values a unit of
# the axis). Every command given to a shell here is a constant.

lines = int(system("wc -l < lines"))
panels = int(system("wc -l < panels"))
series_count = int(system("wc -l < series"))
line_name(i) = system(sprintf("sed -n %dp lines", i + 1))
panel(i) = system(sprintf("sed -n %dp panels", i + 1))
series(i) = system(sprintf("sed -n %dp series", i + 1))
quick = system("sed -n 2p facts") eq "yes"
coverage = system("sed -n 3p facts")
unit = real(system("printf %s \"$FANIN_UNIT\""))
machine = system("printf %s \"$FANIN_MACHINE\"")
title_text = system("printf %s \"$FANIN_TITLE\"")

longest = 0
do for [i = 0:lines - 1] { if (strlen(line_name(i)) > longest) { longest = strlen(line_name(i)) } }
left = 0.02 + longest * character_width
left = left > 0.45 ? 0.45 : left
gap = 0.02
width = (0.98 - left - gap * (panels - 1)) / panels

set logscale x 10
set format x (unit == 1 ? "%.0s%c" : "%g")
stats "points" using 2 nooutput
lowest = STATS_min / unit
stats "points" using 3 nooutput
highest = STATS_max / unit * 1.25
set xrange [lowest * 0.8:highest * 1.5]
set yrange [-0.7:lines - 0.3]
set grid noxtics ytics linecolor rgb "#EEEEEE"
set grid xtics
unset key
top = for_print ? 0.93 : 0.86
foot = 0.03 + 0.055 / tall * (2.2 + (series_count > 1 ? ceil(series_count / 3.0) * 0.5 : 0))

set multiplot
if (!for_print) {
        set label 1 title_text . (quick ? " (quick run)" : "") at screen 0.02, screen 1 - 0.045 / tall font large
        set label 2 machine at screen 0.02, screen 1 - 0.088 / tall font small textcolor rgb "#666666"
        top = 1 - 0.16 / tall
}
note = sprintf("interval of the median%s; hollow: producers mostly ran in turn; cross: samples that " . \
        "did not end, left out", \
        coverage eq "NA" ? "" : sprintf(" (%.3g %%)", 100 * coverage))
set label 3 note at screen 0.98, screen 0.022 right font small textcolor rgb "#666666"
set xlabel system("printf %s \"$FANIN_AXIS\"") font small offset 0, 0.3
set xtics font small
set ytics font small
block(s, p) = s * panels + p
# Series of a line lie a little below each other.
lower(s) = series_count > 1 ? 0.3 - 0.6 * s / (series_count - 1) : 0
do for [p = 0:panels - 1] {
        set lmargin at screen left + p * (width + gap)
        set rmargin at screen left + p * (width + gap) + width
        set tmargin at screen top
        set bmargin at screen foot + 0.05 / tall
        set title sprintf("%s producer%s", panel(p), panel(p) eq "1" ? "" : "s") font small offset 0, -0.6
        set ytics () font small
        do for [i = 0:lines - 1] { set ytics add ((p == 0 ? line_name(i) : "") i) }
        plot "bad" index p using (highest * 1.2):1 with points pointtype 2 pointsize 0.7 * marker \
                        linecolor rgb ink, \
                for [s = 0:series_count - 1] "points" index block(s, p) \
                        using ($1 / unit):($4 + lower(s)):($2 / unit):($3 / unit) with xerrorbars \
                        linecolor rgb colour(s + 1) linewidth 1 pointtype 0, \
                for [s = 0:series_count - 1] "points" index block(s, p) \
                        using ($5 == 1 ? NaN : $1 / unit):($4 + lower(s)) with points linecolor rgb colour(s + 1) \
                        pointtype filled(s + 1) pointsize 0.8 * marker, \
                for [s = 0:series_count - 1] "points" index block(s, p) \
                        using ($5 == 1 ? $1 / unit : NaN):($4 + lower(s)) with points linecolor rgb "white" \
                        pointtype filled(s + 1) pointsize 0.8 * marker, \
                for [s = 0:series_count - 1] "points" index block(s, p) \
                        using ($5 == 1 ? $1 / unit : NaN):($4 + lower(s)) with points linecolor rgb colour(s + 1) \
                        pointtype hollow(s + 1) pointsize 0.8 * marker linewidth line_width
        unset label 1
        unset label 2
        unset label 3
}
# The key, under all panels, where no data is.
if (series_count > 1) {
        unset xlabel; unset title; unset xtics; unset ytics; unset border; unset grid; unset logscale
        set lmargin at screen 0.02
        set rmargin at screen 0.98
        set tmargin at screen foot
        set bmargin at screen 0.03
        set xrange [0:1]
        set yrange [0:1]
        set key at screen 0.02, screen 0.055 / tall left bottom horizontal Left reverse font small maxrows 3 \
                textcolor rgb ink samplen 1
        plot for [s = 0:series_count - 1] NaN with points linecolor rgb colour(s + 1) \
                pointtype filled(s + 1) pointsize marker title series(s)
}
unset multiplot
