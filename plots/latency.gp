# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# The latency figure: latency against load, its median and its 99th percentile, a curve for each
# configuration, until it is saturated. It runs after style.gp, in the directory that latency.awk
# filled. Its only arithmetic is the unit. Every command given to a shell here is a constant.

curves = int(system("wc -l < curves"))
panels = int(system("wc -l < panels"))
label(i) = system(sprintf("sed -n %dp curves", i + 1))
panel(i) = system(sprintf("sed -n %dp panels", i + 1))
quick = system("sed -n 2p facts") eq "yes"
coverage = system("sed -n 3p facts")
machine = system("printf %s \"$FANIN_MACHINE\"")
bars = "interval of its median" . (coverage eq "NA" ? "" : sprintf(" (%.3g %%)", 100 * coverage))

us = 1e3 # ns
longest = strlen(bars)
do for [i = 0:curves - 1] { if (strlen(label(i)) > longest) { longest = strlen(label(i)) } }
right = 0.90 - longest * character_width
left = 0.095
gap = 0.05
width = (right - left - gap * (panels - 1)) / panels

set logscale xy 10
set format xy "%.0s%c"
set autoscale noextend
set offsets graph 0.05, graph 0.05, graph 0.08, graph 0.08
unset key
block(c, p) = c * panels + p
set multiplot
if (!for_print) {
        set label 1 (quick ? "Latency against load (quick run)" : "Latency against load") \
                at screen 0.02, screen 0.955 font large
        set label 2 machine at screen 0.02, screen 0.912 font small textcolor rgb "#666666"
}
set xlabel "requests per second, all producers together"
top = for_print ? 0.92 : 0.80
do for [p = 0:panels - 1] {
        set lmargin at screen left + p * (width + gap)
        set rmargin at screen left + p * (width + gap) + width
        set tmargin at screen top
        set bmargin at screen 0.13
        set title sprintf("%s producer%s, open loop", panel(p), panel(p) eq "1" ? "" : "s") \
                font small offset 0, -0.6
        set ylabel (p == 0 ? "from the intended time to the callback, µs" : "") offset -0.5, 0
        if (p == panels - 1) {
                set key at screen right + 0.015, screen top left top Left reverse \
                        samplen 3 spacing 1.2 font small textcolor rgb ink
        }
        plot for [c = 0:curves - 1] "points" index block(c, p) using 1:($2 / us) notitle \
                        with lines linecolor rgb colour(c + 1) linewidth 0.8 * line_width dashtype 3, \
                for [c = 0:curves - 1] "points" index block(c, p) using 1:($3 / us) notitle \
                        with lines linecolor rgb colour(c + 1) linewidth line_width, \
                for [c = 0:curves - 1] "points" index block(c, p) \
                        using 1:($3 / us):($4 / us):($5 / us) notitle with yerrorbars \
                        linecolor rgb colour(c + 1) linewidth 1 pointtype 0, \
                for [c = 0:curves - 1] "points" index block(c, p) \
                        using 1:($6 == 1 ? NaN : $3 / us) notitle with points \
                        linecolor rgb colour(c + 1) pointtype filled(c + 1) pointsize marker, \
                for [c = 0:curves - 1] "points" index block(c, p) \
                        using 1:($6 == 1 ? $3 / us : NaN) notitle with points \
                        linecolor rgb "white" pointtype filled(c + 1) pointsize marker, \
                for [c = 0:curves - 1] "points" index block(c, p) \
                        using 1:($6 == 1 ? $3 / us : NaN) notitle with points \
                        linecolor rgb colour(c + 1) pointtype hollow(c + 1) pointsize marker \
                        linewidth line_width, \
                for [c = 0:curves - 1] keyentry with linespoints linecolor rgb colour(c + 1) \
                        linewidth line_width pointtype filled(c + 1) pointsize marker \
                        title label(c), \
                keyentry with lines linecolor rgb ink linewidth line_width title "99th percentile", \
                keyentry with yerrorbars linecolor rgb ink pointtype 0 title bars, \
                keyentry with lines linecolor rgb ink linewidth 0.8 * line_width dashtype 3 \
                        title "median", \
                keyentry with points linecolor rgb ink pointtype hollow(1) pointsize marker \
                        linewidth line_width title "hollow: saturated, the latency", \
                keyentry with labels nopoint title "grows as long as it runs"
        unset label 1
        unset label 2
}
unset multiplot
