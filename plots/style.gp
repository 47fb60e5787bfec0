# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
#
# The look of every figure: colours, markers, fonts, sizes and terminals. A figure's script runs
# after this one, in the directory of its data. Environment: FANIN_CURVES, how many curves it has,
# and FANIN_FORMAT, one of svg, png (cairo), png-plain (libgd) and pdf (for the paper).

# Okabe and Ito's palette, told apart with any colour vision; its yellow is too pale for a line.
palette = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
# An eighth queue takes the first one's colour again.
colour(n) = word(palette, (n - 1) % 7 + 1)
muted = "#8C8C8C"
ink = "#333333"
# Gnuplot's markers come in pairs, hollow and filled: circle, square, triangle, diamond, and so on.
filled(n) = int(word("7 5 9 13 11 15", (n - 1) % 6 + 1))
hollow(n) = filled(n) - 1
dashes(n) = (n - 1) % 5 + 1

format = system("printf %s \"$FANIN_FORMAT\"")

# A key has a line a curve, and gnuplot leaves out lines without a word where they don't fit: so a
# figure of more than a dozen curves (FANIN_CURVES) is drawn taller.
curves = int(system("printf %s \"$FANIN_CURVES\""))
tall = curves > 12 ? 1 + 0.045 * (curves - 12) : 1.0

# What a terminal calls a font size differs: pixels in svg, points elsewhere. character_width is how
# much of the figure's width a character of small text takes, generously.
small = ",9"
large = ",13"
character_width = 0.0078
line_width = 1.8
marker = 0.8
if (format eq "svg") {
        small = ",12"
        marker = 0.7
        large = ",17"
        set terminal svg size 900,560 * tall dynamic background "white" \
                font "sans-serif,13" noenhanced
}
if (format eq "png") {
        # Twice the size that it is shown at, for sharp text on dense screens.
        set terminal pngcairo size 1800,1120 * tall fontscale 2 linewidth 2 pointscale 2 \
                background "white" font "Sans,10" noenhanced
}
if (format eq "png-plain") {
        # No dashes and coarse markers: enough to look at.
        line_width = 1
        marker = 1.3
        set terminal png size 900,560 * tall background "#FFFFFF" font "Sans,10" noenhanced
}
if (format eq "pdf") {
        small = ",7.5"
        character_width = 0.0066
        line_width = 1.4
        marker = 0.45
        set terminal pdfcairo size 6.77,3.5 * tall fontscale 0.6 linewidth 0.8 background "white" \
                font "Latin Modern Sans,9" noenhanced
}
for_print = format eq "pdf" # its caption says what a title would

set border 3 linecolor rgb ink linewidth 0.8
set tics nomirror out textcolor rgb ink
set grid xtics ytics linecolor rgb "#DDDDDD" linewidth 0.6 linetype 1
set errorbars 0.7
