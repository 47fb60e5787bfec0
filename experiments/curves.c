/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* From rows, or from a table, to curves. */
#include <errno.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../engine/fanin.h"
#include "curve.h"
#include "settings.h"

const struct curve *curves_find(const struct curves *curves, const char *config)
{
        for (unsigned i = 0; i < curves->count; i++)
                if (!strcmp(curves->curves[i].config, config))
                        return &curves->curves[i];
        return NULL;
}

static void *grow(void *array, unsigned count, size_t element)
{
        array = realloc(array, (count + 1) * element);
        if (!array)
                die("no memory");
        return array;
}

static struct curve *curve_of(struct curves *curves, const char *config)
{
        struct curve *curve = (struct curve *)curves_find(curves, config);
        if (curve)
                return curve;
        curves->curves = grow(curves->curves, curves->count, sizeof *curve);
        curve = &curves->curves[curves->count++];
        *curve = (struct curve){.instead = "no"};
        snprintf(curve->config, sizeof curve->config, "%s", config);
        return curve;
}

/* Found, or put in its place. */
static struct curve_point *point_of(struct curve *curve, unsigned producers)
{
        unsigned i = 0;
        while (i < curve->count && curve->points[i].producers < producers)
                i++;
        if (i < curve->count && curve->points[i].producers == producers)
                return &curve->points[i];
        curve->points = grow(curve->points, curve->count, sizeof *curve->points);
        memmove(&curve->points[i + 1], &curve->points[i],
                (curve->count++ - i) * sizeof *curve->points);
        curve->points[i] = (struct curve_point){.producers = producers};
        return &curve->points[i];
}

static void set_sample(struct curve_point *point, unsigned sample, double rate, double overlap)
{
        for (; point->slots <= sample; point->slots++) {
                point->rates = grow(point->rates, point->slots, sizeof *point->rates);
                point->overlaps = grow(point->overlaps, point->slots, sizeof *point->overlaps);
                point->rates[point->slots] = point->overlaps[point->slots] = NAN;
        }
        point->rates[sample] = rate;
        point->overlaps[sample] = overlap;
}

static void take_medians(struct curves *curves)
{
        for (unsigned c = 0; c < curves->count; c++)
                for (unsigned p = 0; p < curves->curves[c].count; p++) {
                        struct curve_point *point = &curves->curves[c].points[p];
                        double *values = must_allocate(point->slots * sizeof *values);
                        size_t rates = 0, overlaps = 0;
                        for (unsigned i = 0; i < point->slots; i++)
                                if (isfinite(point->overlaps[i]))
                                        values[overlaps++] = point->overlaps[i];
                        point->overlap = overlaps ? gsl_stats_median(values, 1, overlaps) : NAN;
                        for (unsigned i = 0; i < point->slots; i++)
                                if (isfinite(point->rates[i]))
                                        values[rates++] = point->rates[i];
                        point->rate = median_of(values, rates);
                        free(values);
                }
}

void curves_of_rows(struct curves *curves, const struct rows *rows)
{
        *curves = (struct curves){.has_samples = true, .kind = "measured"};
        if (rows->count) {
                curves->cpus = (unsigned)rows->rows[0].cpus_effective;
                snprintf(curves->machine, sizeof curves->machine, "%s", rows->rows[0].machine);
        }
        for (unsigned i = 0; i < rows->count; i++) {
                const struct row *row = &rows->rows[i];
                enum row_status status = row_status_of(row);
                if (!strcmp(row->twin, "b"))
                        continue;
                struct curve *curve = curve_of(curves, row->config);
                struct curve_point *point = point_of(curve, (unsigned)row->producers);
                curves->quick |= !strcmp(row->quick, "yes");
                point->skipped += status == STATUS_SKIPPED;
                point->bad += status != STATUS_OK && status != STATUS_SKIPPED;
                if (status != STATUS_OK)
                        continue;
                set_sample(point, (unsigned)row->sample, row->submit_per_s, row->overlap);
                if (strcmp(row->instead, "NA") != 0) /* older files can't say */
                        snprintf(curve->instead, sizeof curve->instead, "%s", row->instead);
        }
        take_medians(curves);
}

/* Whether a column, if there is one, says the same in every line. */
static bool is_same(const struct csv *csv, const char *name, char *why, size_t why_bytes)
{
        int column = csv_column(csv, name, NULL, 0);
        for (unsigned i = 1; column >= 0 && i < csv->rows; i++)
                if (strcmp(csv_field(csv, i, (unsigned)column),
                            csv_field(csv, 0, (unsigned)column)) != 0)
                        return csv_fault(csv, i, (unsigned)column,
                                       "what line 2 says: kinds, machines and settings are not "
                                       "mixed",
                                       why, why_bytes),
                               false;
        return true;
}

/* What line 2 says in that column, without what a terminal would obey; without it: otherwise. */
static void take_text(
        const struct csv *csv, const char *name, const char *otherwise, char *text, size_t bytes)
{
        int column = csv_column(csv, name, NULL, 0);
        snprintf(text, bytes, "%s", column < 0 ? otherwise : csv_field(csv, 0, (unsigned)column));
        for (char *c = text; *c; c++)
                *c = (char)(*c < ' ' || *c > '~' || *c == '"' ? '?' : *c);
}

/* "Apple M5 10 cores". */
static unsigned cpus_in(const char *machine)
{
        const char *number = strstr(machine, " cores");
        if (!number || strcmp(number, " cores") != 0)
                return 0;
        while (number > machine && number[-1] >= '0' && number[-1] <= '9')
                number--;
        unsigned long cpus = strtoul(number, NULL, 10);
        return cpus < 1 << 20 ? (unsigned)cpus : 0;
}

/* What the samples' own columns allow too: it goes into CSV, JSON and a terminal. */
static bool is_config(const char *text)
{
        size_t length = strlen(text);
        for (const char *c = text; *c; c++)
                if (*c < ' ' || *c > '~' || *c == '"')
                        return false;
        return length && length < sizeof((struct curve *)NULL)->config;
}

static bool add_line(struct curves *curves, const struct csv *csv, unsigned line,
        const unsigned columns[3], char *why, size_t why_bytes)
{
        const char *config = csv_field(csv, line, columns[0]);
        unsigned producers;
        double rate;
        if (!is_config(config))
                return csv_fault(csv, line, columns[0],
                               "a configuration: 1 to 255 letters of ASCII, no quotes", why,
                               why_bytes),
                       false;
        if (!csv_count(csv, line, columns[1], FANIN_PRODUCERS_MAX, &producers, why, why_bytes) ||
                !csv_number(csv, line, columns[2], &rate, why, why_bytes))
                return false;
        if (rate == 0)
                return csv_fault(csv, line, columns[2], "above 0, or NA", why, why_bytes), false;
        struct curve_point *point = point_of(curve_of(curves, config), producers);
        if (point->slots)
                return csv_fault(csv, line, columns[1],
                               "new: an earlier line has that count of the same configuration", why,
                               why_bytes),
                       false;
        set_sample(point, 0, rate, NAN);
        return true;
}

bool curves_of_table(struct curves *curves, const struct csv *csv, char *why, size_t why_bytes)
{
        static const char *const names[] = {"config", "producers", "submit_per_s"};
        unsigned columns[3];
        *curves = (struct curves){.count = 0};
        for (unsigned i = 0; i < 3; i++) {
                int column = csv_column(csv, names[i], why, why_bytes);
                if (column < 0)
                        return false;
                columns[i] = (unsigned)column;
        }
        if (!csv->rows)
                return snprintf(why, why_bytes, "%s line 2: there is no row", csv->path), false;
        if (!is_same(csv, "kind", why, why_bytes) || !is_same(csv, "machine", why, why_bytes))
                return false;
        take_text(csv, "kind", "of unknown kind", curves->kind, sizeof curves->kind);
        take_text(csv, "machine", "unknown machine", curves->machine, sizeof curves->machine);
        curves->cpus = cpus_in(curves->machine);
        for (unsigned i = 0; i < csv->rows; i++)
                if (!add_line(curves, csv, i, columns, why, why_bytes))
                        return curves_free(curves), false;
        take_medians(curves);
        return true;
}

static bool read_samples(struct curves *curves, const struct csv *csv, char *why, size_t why_bytes)
{
        /* What moves a curve as the queue does. What only the sample knows is NA where it hung. */
        static const char *const alike[] = {"machine", "cpus_effective", "think_ns", "handler_ns",
                "poll_ms", "on_full", "check", "quick"};
        struct rows rows;
        bool read = rows_read(&rows, csv->path, why, why_bytes);
        if (!read)
                return false;
        for (unsigned i = 0; read && i < sizeof alike / sizeof *alike; i++)
                read = is_same(csv, alike[i], why, why_bytes);
        if (read)
                curves_of_rows(curves, &rows);
        rows_free(&rows);
        if (read && !curves->count)
                return snprintf(why, why_bytes, "%s line 2: all rows are of second twins",
                               csv->path),
                       false;
        return read;
}

bool curves_read(struct curves *curves, const char *path, char *why, size_t why_bytes)
{
        struct stat status;
        struct csv csv;
        char *file = NULL;
        if (stat(path, &status))
                return snprintf(why, why_bytes, "%s can't be read: %s", path, strerror(errno)),
                       false;
        if (S_ISDIR(status.st_mode) && asprintf(&file, "%s/samples.csv", path) < 0)
                die("no memory");
        bool read = csv_read(&csv, file ? file : path, why, why_bytes);
        if (read) {
                bool samples = file || csv_column(&csv, "submits", NULL, 0) >= 0;
                read = (samples ? read_samples : curves_of_table)(curves, &csv, why, why_bytes);
                csv_free(&csv);
        }
        free(file);
        return read;
}

void curves_free(struct curves *curves)
{
        for (unsigned i = 0; i < curves->count; i++) {
                for (unsigned j = 0; j < curves->curves[i].count; j++) {
                        free(curves->curves[i].points[j].rates);
                        free(curves->curves[i].points[j].overlaps);
                }
                free(curves->curves[i].points);
        }
        free(curves->curves);
        *curves = (struct curves){.count = 0};
}
