/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* How many requests were outstanding, over time: the peak, and a trace that fits into a row. */
#ifndef FANIN_BACKLOG_H
#define FANIN_BACKLOG_H

#include "row.h"

struct backlog {
        uint64_t peak, start_ns;
        uint64_t interval_ms; /* at least, between two points */
        unsigned count;
        struct row_depth depths[ROW_DEPTHS];
};

/* Forgets what was before. */
void backlog_begin(struct backlog *, uint64_t now_ns);

/* The first look becomes a point; a later one if the interval has passed since the last. When there
 * is no room, every second point goes and the interval doubles. */
void backlog_note(struct backlog *, uint64_t now_ns, uint64_t depth);

#endif
