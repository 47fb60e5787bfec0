/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* From CSV fields to rows, with what must hold of each. */
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/fanin.h"
#include "csv.h"

/* What no version was without, and nothing can be said without. */
static const char *const required[] = {"kind", "config", "producers", "sample", "status", "submits",
        "submit_ns", "submit_per_s", "complete_per_s", "producer_cpu_ns", "overlap", "wakes",
        "cpus_effective", "machine"};

static bool is_status(const char *text)
{
        for (enum row_status status = 0; status < STATUSES; status++)
                if (!strcmp(text, row_status_names[status]))
                        return true;
        return false;
}

/* As it was computed, to the digits that are printed. */
static bool rate_follows(const struct row *row)
{
        double rate = (double)row->submits * 1e9 / (double)row->submit_ns;
        return fabs(rate - row->submit_per_s) <= 1e-4 * rate;
}

/* The name of the column that is wrong, or NULL. */
static const char *faulty(const struct row *row, const char **wanted)
{
        bool ok = row_status_of(row) == STATUS_OK;
        *wanted = "measured: only what fanin measured is compared here";
        if (strcmp(row->kind, "measured") != 0)
                return "kind";
        *wanted = "a status: ok, hang, crash, refused, …";
        if (!is_status(row->status))
                return "status";
        *wanted = "a count from 1 to 4096";
        if (!row->producers || row->producers > FANIN_PRODUCERS_MAX)
                return "producers";
        *wanted = "a number below 10000";
        if (row->sample >= 10000)
                return "sample";
        *wanted = "a count of CPUs";
        if (!row->cpus_effective || row->cpus_effective == ROW_NA)
                return "cpus_effective";
        *wanted = "above 0 in a row whose status is ok";
        if (ok && !(row->submit_per_s > 0))
                return "submit_per_s";
        if (ok && !(row->complete_per_s > 0))
                return "complete_per_s";
        if (ok && (!row->submits || row->submits == ROW_NA))
                return "submits";
        if (ok && (!row->submit_ns || row->submit_ns == ROW_NA))
                return "submit_ns";
        *wanted = "submits * 1e9 / submit_ns";
        if (ok && !rate_follows(row))
                return "submit_per_s";
        *wanted = "a share from 0 to 1";
        if (ok && !(row->overlap >= 0 && row->overlap <= 1.001))
                return "overlap";
        return NULL;
}

static bool read_row(
        struct row *row, const struct csv *csv, unsigned line, char *why, size_t why_bytes)
{
        const char *wanted;
        row_clear(row);
        row_set_text(row->twin, sizeof row->twin, "no");
        for (unsigned i = 0; i < csv->columns; i++)
                if (!row_set_field(row, csv->names[i], csv_field(csv, line, i), &wanted))
                        return csv_fault(csv, line, i, wanted, why, why_bytes), false;
        row->measured = isfinite(row->submit_per_s);
        const char *name = faulty(row, &wanted);
        if (name)
                csv_fault(csv, line, (unsigned)csv_column(csv, name, NULL, 0), wanted, why,
                        why_bytes);
        return !name;
}

static int by_sample(const void *left, const void *right)
{
        const struct row *a = *(const struct row *const *)left;
        const struct row *b = *(const struct row *const *)right;
        int order = strcmp(a->config, b->config);
        order = order ? order : strcmp(a->twin, b->twin);
        order = order ? order : (a->producers > b->producers) - (a->producers < b->producers);
        return order ? order : (a->sample > b->sample) - (a->sample < b->sample);
}

/* Two rows of one sample would count it twice. */
static bool each_once(const struct rows *rows, const struct csv *csv, char *why, size_t why_bytes)
{
        const struct row **sorted = calloc(rows->count, sizeof *sorted);
        bool once = sorted != NULL;
        if (!sorted) {
                snprintf(why, why_bytes, "%s: no memory for it", csv->path);
                return false;
        }
        for (unsigned i = 0; i < rows->count; i++)
                sorted[i] = &rows->rows[i];
        qsort(sorted, rows->count, sizeof *sorted, by_sample);
        for (unsigned i = 1; i < rows->count && once; i++) {
                once = by_sample(&sorted[i - 1], &sorted[i]) != 0;
                const struct row *second = sorted[i] > sorted[i - 1] ? sorted[i] : sorted[i - 1];
                if (!once)
                        csv_fault(csv, (unsigned)(second - rows->rows),
                                (unsigned)csv_column(csv, "sample", NULL, 0),
                                "new: an earlier line is the same sample of the same cell", why,
                                why_bytes);
        }
        free(sorted);
        return once;
}

static bool read_all(struct rows *rows, const struct csv *csv, char *why, size_t why_bytes)
{
        for (unsigned i = 0; i < sizeof required / sizeof *required; i++)
                if (csv_column(csv, required[i], why, why_bytes) < 0)
                        return false;
        if (!csv->rows)
                return snprintf(why, why_bytes, "%s line 2: there is no row", csv->path), false;
        rows->rows = calloc(csv->rows, sizeof *rows->rows);
        if (!rows->rows)
                return snprintf(why, why_bytes, "%s: no memory for it", csv->path), false;
        for (; rows->count < csv->rows; rows->count++)
                if (!read_row(&rows->rows[rows->count], csv, rows->count, why, why_bytes))
                        return false;
        return each_once(rows, csv, why, why_bytes);
}

static bool take(struct rows *rows, struct csv *csv, char *why, size_t why_bytes)
{
        bool read = read_all(rows, csv, why, why_bytes);
        csv_free(csv);
        if (!read)
                rows_free(rows);
        return read;
}

bool rows_read(struct rows *rows, const char *path, char *why, size_t why_bytes)
{
        struct csv csv;
        *rows = (struct rows){NULL, 0};
        return csv_read(&csv, path, why, why_bytes) && take(rows, &csv, why, why_bytes);
}

bool rows_parse(struct rows *rows, const char *path, const char *text, size_t bytes, char *why,
        size_t why_bytes)
{
        struct csv csv;
        *rows = (struct rows){NULL, 0};
        return csv_parse(&csv, path, text, bytes, why, why_bytes) &&
               take(rows, &csv, why, why_bytes);
}

void rows_free(struct rows *rows)
{
        free(rows->rows);
        *rows = (struct rows){NULL, 0};
}
