# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# The shards figure: what a submit costs its producer, over the number of shards, a curve for each
# lock. It runs after style.gp, in the directory that shards.awk filled. Every command given to a
# shell here is a constant.

curves = int(system("wc -l < curves"))
panels = int(system("wc -l < panels"))
label(i) = system(sprintf("sed -n %dp curves", i + 1))
panel(i) = system(sprintf("sed -n %dp panels", i + 1))
quick = system("sed -n 2p facts") eq "yes"
coverage = system("sed -n 3p facts")
shared = system("sed -n 4p facts")
machine = system("printf %s \"$FANIN_MACHINE\"")
title_text = system("printf %s \"$FANIN_TITLE\"")
bars = "interval of the median" . (coverage eq "NA" ? "" : sprintf(" (%.3g %%)", 100 * coverage))

longest = strlen(bars)
do for [i = 0:curves - 1] { if (strlen(label(i)) > longest) { longest = strlen(label(i)) } }
right = 0.90 - longest * character_width
left = 0.115
gap = 0.05
width = (right - left - gap * (panels - 1)) / panels

set logscale x 2
set logscale y 10
set format y "%.0s%c"
set autoscale noextend
set offsets graph 0.05, graph 0.05, graph 0.08, graph 0.08
unset key
block(c, p) = c * panels + p
set multiplot
if (!for_print) {
        set label 1 title_text . (quick ? " (quick run)" : "") at screen 0.02, screen 0.955 font large
        set label 2 machine at screen 0.02, screen 0.912 font small textcolor rgb "#666666"
}
set xlabel "shards"
set xtics font small
set ytics font small
do for [p = 0:panels - 1] {
        set lmargin at screen left + p * (width + gap)
        set rmargin at screen left + p * (width + gap) + width
        set tmargin at screen (for_print ? 0.92 : 0.80)
        set bmargin at screen 0.13
        set title sprintf("%s producer%s", panel(p), panel(p) eq "1" ? "" : "s") font small offset 0, -0.6
        set ylabel (p == 0 ? "producer CPU ns per submit" : "") offset 1, 0
        if (p == panels - 1) {
                set key at screen right + 0.015, screen (for_print ? 0.92 : 0.80) left top Left reverse \
                        samplen 3 spacing 1.2 font small textcolor rgb ink
        }
        plot for [c = 0:curves - 1] "points" index block(c, p) using 1:2 notitle with lines \
                        linecolor rgb colour(c + 1) linewidth line_width dashtype dashes(c / 7 + 1), \
                for [c = 0:curves - 1] "points" index block(c, p) using 1:2:3:4 notitle \
                        with yerrorbars linecolor rgb colour(c + 1) linewidth 1 pointtype 0, \
                for [c = 0:curves - 1] "points" index block(c, p) using 1:($5 == 1 ? NaN : $2) notitle \
                        with points linecolor rgb colour(c + 1) pointtype filled(c + 1) pointsize marker, \
                for [c = 0:curves - 1] "points" index block(c, p) using 1:($5 == 1 ? $2 : NaN) notitle \
                        with points linecolor rgb "white" pointtype filled(c + 1) pointsize marker, \
                for [c = 0:curves - 1] "points" index block(c, p) using 1:($5 == 1 ? $2 : NaN) notitle \
                        with points linecolor rgb colour(c + 1) pointtype hollow(c + 1) pointsize marker \
                        linewidth line_width, \
                keyentry with labels nopoint title shared, \
                for [c = 0:curves - 1] keyentry with linespoints linecolor rgb colour(c + 1) \
                        linewidth line_width dashtype dashes(c / 7 + 1) pointtype filled(c + 1) \
                        pointsize marker title label(c), \
                keyentry with points linecolor rgb ink pointtype hollow(1) pointsize marker \
                        linewidth line_width title "hollow: producers mostly", \
                keyentry with labels nopoint title "ran in turn (overlap < 0.5)", \
                keyentry with yerrorbars linecolor rgb ink pointtype 0 title bars, \
                keyentry with labels nopoint title "no point: no sample ended"
        unset label 1
        unset label 2
}
unset multiplot
