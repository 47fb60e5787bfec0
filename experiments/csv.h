/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Reads our CSV files, as they are or as someone has changed them: comma separated, no quoting, the
 * first line names the columns, the last line ends too. A fault is one sentence with file, line and
 * column; nothing is assumed of the bytes.
 */
#ifndef FANIN_CSV_H
#define FANIN_CSV_H

#include <stdbool.h>
#include <stddef.h>

struct csv {
        const char *path; /* the caller's, for sentences */
        char *text;       /* what names and fields point into */
        char **names, **fields;
        unsigned columns, rows;
};

/* False: why has the sentence and csv needs no free. At most 1 GiB. */
bool csv_read(struct csv *, const char *path, char *why, size_t why_bytes);

/* The same of bytes in memory, which are copied. */
bool csv_parse(struct csv *, const char *path, const char *text, size_t bytes, char *why,
        size_t why_bytes);

void csv_free(struct csv *);

/* The column's place, or -1; with a sentence in why if that is not NULL. */
int csv_column(const struct csv *, const char *name, char *why, size_t why_bytes);

/* row from 0, without the header; column below columns. */
const char *csv_field(const struct csv *, unsigned row, unsigned column);

/* A sentence: "FILE line 3, column submit_per_s: 'x' is not a number"; wanted completes "is not".
 */
void csv_fault(const struct csv *, unsigned row, unsigned column, const char *wanted, char *why,
        size_t why_bytes);

/* A decimal number with a point, whatever the locale, at least 0; "NA" is NAN. False: why. */
bool csv_number(const struct csv *, unsigned row, unsigned column, double *number, char *why,
        size_t why_bytes);

/* A whole number from 1 to max. False: why. */
bool csv_count(const struct csv *, unsigned row, unsigned column, unsigned max, unsigned *count,
        char *why, size_t why_bytes);

#endif
