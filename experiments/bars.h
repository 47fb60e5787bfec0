/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What bars.c finds out and bars_judge.c holds against the bars. */
#ifndef FANIN_BARS_H
#define FANIN_BARS_H

#include "summary.h"

/* What a configuration adds at a number of producers. */
struct added {
        const struct spec *spec;
        const struct cell *cell;
        struct median ns;
};

struct added_list {
        const struct cell *ceiling; /* `private` there */
        struct added *added;        /* least first */
        unsigned count;
};

/* One of those of which lanes may add half of the least. */
bool bars_is_rival(const struct spec *);

/* The bar of back-pressure is measured with this: so small that it is full all the time. */
extern const char bars_full_ring[];

/* Prints each figure beside its bar, and to csv, if given, as a line:
 * what,figure,bar,margin,margin_lo,margin_hi,margin_unit,verdict. */
enum exit_code bars_judge(const struct added_list *lists, unsigned count, const struct settings *,
        const struct summary *, FILE *csv);

#endif
