/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Reads samples.csv back: for resuming, verdicts and comparisons. */
#ifndef FANIN_ROWS_H
#define FANIN_ROWS_H

#include "row.h"

struct rows {
        struct row *rows; /* without details and reasons */
        unsigned count;
};

/*
 * Columns that a file of an older version has not are NA (twin: "no"); those that are not ours are
 * ignored. Refused with a sentence (file, line, column): a status, count or number that can't be, a
 * rate that does not follow from its submits and nanoseconds, a second row of the same sample.
 */
bool rows_read(struct rows *, const char *path, char *why, size_t why_bytes);

/* The same of bytes in memory. */
bool rows_parse(struct rows *, const char *path, const char *text, size_t bytes, char *why,
        size_t why_bytes);

void rows_free(struct rows *);

#endif
