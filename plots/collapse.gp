# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# The collapse figure: submit rate against producers, both on log axes. It runs after style.gp, in
# the directory that collapse.awk filled; plot.sh runs all three. Its only arithmetic is the unit:
# submits to millions of submits. Every command given to a shell here is a constant.

curves = system("cat curves")
block(i) = int(word(curves, 5 * i + 1))
queue(i) = int(word(curves, 5 * i + 3))
wake(i) = int(word(curves, 5 * i + 4))
label(i) = word(curves, 5 * i + 5)
all = words(curves) / 5
here = 0 # how many of them are measured; the published follow
do for [i = 0:all - 1] { here = here + (word(curves, 5 * i + 2) eq "0") }

cpus = real(system("sed -n 1p facts"))
quick = system("sed -n 2p facts") eq "yes"
coverage = system("sed -n 3p facts")
heading_here = system("sed -n 4p facts")
heading_there = system("sed -n 5p facts")
setting_there = system("sed -n 6p facts")
bars = "interval of the median" . (coverage eq "NA" ? "" : sprintf(" (%.3g %%)", 100 * coverage))
machine = system("printf %s \"$FANIN_MACHINE\"")

M = 1e6 # submits a unit of the axis
set logscale x 2
set logscale y 10
set autoscale noextend
set offsets graph 0.04, graph 0.04, graph 0.06, graph 0.06
set format y "%g"
set mytics 10
set xtics () # its ticks are the counts in the data
set xlabel "producers"
set ylabel "submit rate, M submits/s"

if (!for_print) {
        set label 1 (quick ? "Submit rate against producers (quick run)" : \
                "Submit rate against producers") at screen 0.02, screen 0.955 font large
        set label 2 machine at screen 0.02, screen 0.912 font small textcolor rgb "#666666"
        set tmargin at screen 0.84
}
# The CPU count, named above the frame, where no data can be.
set arrow 1 from first cpus, graph 0 to first cpus, graph 1 nohead \
        linecolor rgb ink dashtype 3 linewidth line_width
set label 3 sprintf(cpus == 1 ? "%g CPU here" : "%g CPUs here", cpus) \
        at first cpus, graph 1 center offset 0, 0.6 font small textcolor rgb ink

# The key stands beside the plot, which keeps what the longest line of the key leaves.
longest = strlen(bars)
do for [i = 0:all - 1] { if (strlen(label(i)) > longest) { longest = strlen(label(i)) } }
right = 0.90 - longest * character_width
right = right < 0.4 ? 0.4 : right
set lmargin at screen 0.09
set rmargin at screen right
set key at screen right + 0.015, graph 1 left top Left reverse samplen 3.5 spacing 1.2 font small \
        textcolor rgb ink

plot \
        "points" index 0 every ::0::0 using (cpus):($2 / M) notitle \
                with dots linecolor rgb "white", \
        for [i = here:all - 1] "published" index block(i) using 1:($2 / M):xticlabels(1) notitle \
                with linespoints linecolor rgb muted linewidth 0.8 dashtype dashes(wake(i)) \
                pointtype filled(wake(i)) pointsize 0.6 * marker, \
        for [i = 0:here - 1] "points" index block(i) using 1:($2 / M):xticlabels(1) notitle \
                with lines linecolor rgb colour(queue(i)) linewidth line_width \
                dashtype dashes(wake(i)), \
        for [i = 0:here - 1] "points" index block(i) \
                using 1:($3 > 0 ? $2 / M : NaN):($3 / M):($4 / M) notitle \
                with yerrorbars linecolor rgb colour(queue(i)) linewidth 1 pointtype 0, \
        for [i = 0:here - 1] "points" index block(i) using 1:($5 == 1 ? NaN : $2 / M) notitle \
                with points linecolor rgb colour(queue(i)) pointtype filled(wake(i)) \
                pointsize marker, \
        for [i = 0:here - 1] "points" index block(i) using 1:($5 == 1 ? $2 / M : NaN) notitle \
                with points linecolor rgb "white" pointtype filled(wake(i)) pointsize marker, \
        for [i = 0:here - 1] "points" index block(i) using 1:($5 == 1 ? $2 / M : NaN) notitle \
                with points linecolor rgb colour(queue(i)) pointtype hollow(wake(i)) \
                pointsize marker linewidth line_width, \
        keyentry with labels nopoint title heading_here, \
        for [i = 0:here - 1] keyentry with linespoints linecolor rgb colour(queue(i)) \
                linewidth line_width dashtype dashes(wake(i)) pointtype filled(wake(i)) \
                pointsize marker title label(i), \
        keyentry with points linecolor rgb ink pointtype hollow(1) pointsize marker \
                linewidth line_width title "hollow: producers mostly", \
        keyentry with labels nopoint title "ran in turn (overlap < 0.5)", \
        keyentry with yerrorbars linecolor rgb ink pointtype 0 title bars, \
        keyentry with labels nopoint title " ", \
        keyentry with labels nopoint title heading_there, \
        keyentry with labels nopoint title setting_there, \
        for [i = here:all - 1] keyentry with linespoints linecolor rgb muted linewidth 0.8 \
                dashtype dashes(wake(i)) pointtype filled(wake(i)) pointsize 0.6 * marker \
                title label(i)
