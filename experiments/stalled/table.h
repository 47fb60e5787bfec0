/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The outcomes of `stalled`, as CSV and as a table. */
#ifndef FANIN_STALLED_TABLE_H
#define FANIN_STALLED_TABLE_H

#include "case.h"

enum { STALLED_TWICE = 2 };

struct stalled_run {
        struct stalled_case is;
        const char *whose; /* the other producer's list */
        struct case_outcome outcome[STALLED_TWICE];
};

bool table_same(const struct case_outcome *a, const struct case_outcome *b);

/* How the run ended, in a word or two. */
const char *table_end(const struct stalled_run *run);

/* In Markdown, to stdout. The steps of a backend follow each other. */
void table_print(const struct stalled_run *runs, unsigned count);

/* False: errno says why. The file must not exist. */
bool table_csv(const char *path, const struct stalled_run *runs, unsigned count);

#endif
