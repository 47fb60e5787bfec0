/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What a latency sweep leaves in its run directory beside latency.csv: summary.csv, and each cell's
 * histograms, merged, as .hgrm files. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "latency.h"

static void print_median(FILE *file, const struct median *median)
{
        const double numbers[] = {median->median, median->lo, median->hi};
        for (unsigned i = 0; i < 3; i++)
                if (isnan(numbers[i]))
                        fputs(",NA", file);
                else
                        fprintf(file, ",%.12g", numbers[i]);
}

#define PRINT_NAMES(name) "," #name "_median," #name "_lo," #name "_hi"
#define PRINT_MEDIAN(name) print_median(file, &cell->name);

static void print_summary(FILE *file, const struct latency_cell *cells, unsigned count)
{
        fputs("kind,config,producers,loop,arrivals,rate_per_s,samples_ok,samples_bad,saturated,"
              "coverage,cpus_effective,quick" LATENCY_FIELDS(
                      LATENCY_NO_TEXT, LATENCY_NO_NUMBER, PRINT_NAMES) "\n",
                file);
        for (const struct latency_cell *cell = cells; cell < cells + count; cell++) {
                const struct latency_row *row = &cell->rows[0];
                if (!cell->row_count)
                        continue;
                fprintf(file, "measured,%s,%u,%s,%s,", row->config, cell->producers, row->loop,
                        row->arrivals);
                if (cell->rate_per_s > 0)
                        fprintf(file, "%.12g", cell->rate_per_s);
                else
                        fputs("NA", file);
                fprintf(file, ",%u,%u,%s,", cell->samples_ok, cell->row_count - cell->samples_ok,
                        !cell->samples_ok || cell->rate_per_s <= 0 ? "NA"
                        : latency_saturated(cell)                  ? "yes"
                                                                   : "no");
                if (cell->samples_ok)
                        fprintf(file, "%.6g", cell->achieved_per_s.coverage);
                else
                        fputs("NA", file);
                fprintf(file, ",%g,%s", row->cpus_effective, row->quick);
                LATENCY_FIELDS(LATENCY_NO_TEXT, LATENCY_NO_NUMBER, PRINT_MEDIAN)
                fputc('\n', file);
        }
}

/* Closes the file. False: the reason is printed. */
static bool close_whole(const struct rundir *rundir, FILE *file, const char *name)
{
        bool whole = file && !ferror(file);
        whole &= file && !fclose(file);
        if (file && !whole)
                fprintf(stderr, "fanin: '%s/%s' can't be written: %s\n", rundir->path, name,
                        strerror(errno));
        return whole;
}

static bool write_histogram(const struct rundir *rundir, const struct latency_cell *cell,
        const struct histogram *histogram, const char *what)
{
        const struct latency_row *row = &cell->rows[0];
        char name[SPEC_BYTES + 64], load[64] = "closed loop", comment[768];
        int bytes = snprintf(name, sizeof name, "%s-%u-", row->config, cell->producers);
        for (char *at = name; *at; at++)
                *at = *at == '/' ? '_' : *at;
        if (cell->rate_per_s > 0) {
                snprintf(load, sizeof load, "open loop, %s arrivals, %.12g a second", row->arrivals,
                        cell->rate_per_s);
                snprintf(name + bytes, sizeof name - (size_t)bytes, "%.12g-%s.hgrm",
                        cell->rate_per_s, what);
        } else {
                snprintf(name + bytes, sizeof name - (size_t)bytes, "closed-%s.hgrm", what);
        }
        snprintf(comment, sizeof comment,
                "measured %s of %s, %u producers, %s, %u samples; %s, commit %s", what, row->config,
                cell->producers, load, cell->samples_ok, row->machine, row->commit);
        FILE *file = rundir_file(rundir, name);
        if (file)
                histogram_print_hgrm(file, histogram, comment);
        return close_whole(rundir, file, name);
}

bool latency_write(const struct rundir *rundir, const struct latency_cell *cells, unsigned count)
{
        bool whole = true;
        if (!rundir->path)
                return true;
        FILE *file = rundir_file(rundir, "summary.csv");
        if (file)
                print_summary(file, cells, count);
        whole &= close_whole(rundir, file, "summary.csv");
        for (const struct latency_cell *cell = cells; cell < cells + count; cell++) {
                if (!cell->samples_ok)
                        continue;
                whole &= write_histogram(rundir, cell, &cell->times->latency, "latency");
                whole &= write_histogram(rundir, cell, &cell->times->submit, "submit");
        }
        return whole;
}
