/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What a latency sweep says: cells of samples, tables and sentences. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "latency.h"

static const double least_kept = 0.95;
static const double overhead_told = 0.05; /* of the median submit */

/* Of the rows that are ok. */
static struct median median_of_rows(const struct latency_cell *cell, size_t offset)
{
        double *values = must_allocate(cell->row_count * sizeof *values);
        unsigned count = 0;
        for (unsigned i = 0; i < cell->row_count; i++) {
                const struct latency_row *row = &cell->rows[i];
                double value = *(const double *)(const void *)((const char *)row + offset);
                if (latency_row_status(row) == STATUS_OK && !isnan(value))
                        values[count++] = value;
        }
        struct median median = median_of(values, count);
        free(values);
        return median;
}

#define MAKE_MEDIAN(name) cell->name = median_of_rows(cell, offsetof(struct latency_row, name));

void latency_cell_make(struct latency_cell *cell)
{
        cell->samples_ok = 0;
        for (unsigned i = 0; i < cell->row_count; i++)
                cell->samples_ok += latency_row_status(&cell->rows[i]) == STATUS_OK;
        LATENCY_FIELDS(LATENCY_NO_TEXT, LATENCY_NO_NUMBER, MAKE_MEDIAN)
}

bool latency_saturated(const struct latency_cell *cell)
{
        return cell->kept.median < least_kept;
}

/* Three digits or more of nanoseconds as microseconds, without an exponent. */
struct text {
        char text[24];
};

static struct text us(double ns)
{
        struct text text;
        double us = ns / 1e3;
        int digits = us < 10 ? 2 : us < 100 ? 1 : 0;
        if (isnan(ns))
                snprintf(text.text, sizeof text.text, "NA");
        else
                snprintf(text.text, sizeof text.text, "%.*f", digits, us);
        return text;
}

static double overhead_share(const struct latency_cell *cell)
{
        return cell->overhead_ns.median / cell->submit_p50_ns.median;
}

static void print_line(const struct latency_cell *cell)
{
        char rate[24] = "-", achieved[48], kept[16] = "-", p99[64];
        if (cell->rate_per_s > 0)
                snprintf(rate, sizeof rate, "%.12g", cell->rate_per_s);
        printf("%9s", rate);
        if (!cell->samples_ok) {
                printf("  no sample of %u was ok\n", cell->row_count);
                return;
        }
        snprintf(achieved, sizeof achieved, "[%.0f, %.0f]", cell->achieved_per_s.lo,
                cell->achieved_per_s.hi);
        if (!isnan(cell->kept.median))
                snprintf(kept, sizeof kept, "%.1f", 100 * cell->kept.median);
        snprintf(p99, sizeof p99, "[%s, %s]", us(cell->latency_p99_ns.lo).text,
                us(cell->latency_p99_ns.hi).text);
        printf("%9.0f %-20s %5s  %6s %6s %7s %7s  %7s %7s %7s %-16s %7s %7s  %7s  %5.1f%c  %u",
                cell->achieved_per_s.median, achieved, kept, us(cell->submit_p50_ns.median).text,
                us(cell->submit_p99_ns.median).text, us(cell->submit_p999_ns.median).text,
                us(cell->submit_max_ns.median).text, us(cell->latency_p50_ns.median).text,
                us(cell->latency_p90_ns.median).text, us(cell->latency_p99_ns.median).text, p99,
                us(cell->latency_p999_ns.median).text, us(cell->latency_max_ns.median).text,
                us(cell->late_p99_ns.median).text, 100 * overhead_share(cell),
                overhead_share(cell) > overhead_told ? '!' : ' ', cell->samples_ok);
        if (cell->samples_ok < cell->row_count)
                printf(", %u not", cell->row_count - cell->samples_ok);
        puts(latency_saturated(cell) ? ", saturated" : "");
}

static void print_heading(const struct latency_cell *cell)
{
        const struct latency_row *row = &cell->rows[0];
        bool closed = !strcmp(row->loop, "closed");
        printf("\n%s, %u producers, %s loop%s%s\n", row->config, cell->producers, row->loop,
                closed ? "" : ", arrivals ", closed ? "" : row->arrivals);
        if (strcmp(row->instead, "no") != 0 && strcmp(row->instead, "NA") != 0)
                printf("in place of the queue, which can't run here: %s\n", row->instead);
        printf("%9s%9s %-20s %5s  %-30s %-57s %8s  %6s  %s\n", "asked", "achieved", "a second",
                "kept", "submit us", "latency us", "late us", "timing", "samples");
        printf("%9s%9s %-20s %5s  %6s %6s %7s %7s  %7s %7s %7s %-16s %7s %7s  %7s  %6s  %s\n", "",
                "", "[lo, hi]", "%", "p50", "p99", "p99.9", "max", "p50", "p90", "p99", "[lo, hi]",
                "p99.9", "max", "p99", "%", "ok");
}

/* The lowest rate at which it was saturated, or NULL. */
static const struct latency_cell *saturation(
        const struct latency_cell *cells, unsigned count, unsigned curve)
{
        const struct latency_cell *lowest = NULL;
        for (const struct latency_cell *cell = cells; cell < cells + count; cell++)
                if (cell->curve == curve && latency_saturated(cell) &&
                        (!lowest || cell->rate_per_s < lowest->rate_per_s))
                        lowest = cell;
        return lowest;
}

/* The highest rate of at most so much that was measured, or NULL. */
static const struct latency_cell *highest_to(
        const struct latency_cell *cells, unsigned count, unsigned curve, double rate_per_s)
{
        const struct latency_cell *highest = NULL;
        for (const struct latency_cell *cell = cells; cell < cells + count; cell++)
                if (cell->curve == curve && cell->samples_ok && cell->rate_per_s <= rate_per_s &&
                        (!highest || cell->rate_per_s > highest->rate_per_s))
                        highest = cell;
        return highest;
}

static void print_sentence(const struct latency_cell *cells, unsigned count, unsigned curve)
{
        const struct latency_cell *full = saturation(cells, count, curve);
        const struct latency_cell *top =
                highest_to(cells, count, curve, full ? full->rate_per_s / 2 : INFINITY);
        const struct latency_cell *any = top ? top : full;
        if (!any)
                return;
        printf("%s, %u producers: ", any->rows[0].config, any->producers);
        if (any->rate_per_s <= 0) {
                printf("closed loop, %.0f a second, p99 %s us\n", any->achieved_per_s.median,
                        us(any->latency_p99_ns.median).text);
                return;
        }
        if (full)
                printf("saturated at %.12g a second, of which it achieved %.0f; ", full->rate_per_s,
                        full->achieved_per_s.median);
        else
                printf("not saturated up to %.12g a second; ", top->rate_per_s);
        if (top)
                printf("p99 %s us at %s%.12g\n", us(top->latency_p99_ns.median).text,
                        !full                                     ? ""
                        : top->rate_per_s == full->rate_per_s / 2 ? "half of that, "
                                                                  : "the rate below half of that, ",
                        top->rate_per_s);
        else
                printf("no rate of half of that or less was measured\n");
}

static void print_notes(const struct latency_cell *cells, unsigned count)
{
        double coverage = 1, least_ns = INFINITY, most_ns = 0, least = INFINITY, most = 0;
        bool closed = false;
        for (const struct latency_cell *cell = cells; cell < cells + count; cell++) {
                if (!cell->samples_ok)
                        continue;
                coverage = fmin(coverage, cell->achieved_per_s.coverage);
                least_ns = fmin(least_ns, cell->overhead_ns.median);
                most_ns = fmax(most_ns, cell->overhead_ns.median);
                least = fmin(least, overhead_share(cell)); /* nothing was submitted: NAN */
                most = fmax(most, overhead_share(cell));
                closed |= cell->rate_per_s <= 0;
        }
        if (most_ns <= 0)
                return;
        printf("\nMedians over samples; their intervals cover with %.1f %% or more. Kept: of "
               "what was offered,\nwhich with Poisson arrivals chance makes more or less than what "
               "was asked. Saturated: less than %.0f %%.\n",
                100 * coverage, 100 * least_kept);
        if (closed)
                puts("A closed loop leaves out the waits of requests that a stall kept from being "
                     "made: its latency is\nno answer to how long a request waits at a given "
                     "load.");
        if (most <= 0)
                return;
        printf("timing overhead %.0f to %.0f ns a submit: %.1f to %.1f %% of the median submit\n",
                least_ns, most_ns, 100 * least, 100 * most);
        if (most > overhead_told)
                printf("Above %.0f %%, where marked !, submits cost less than they seem.\n",
                        100 * overhead_told);
}

bool latency_print_tables(
        const struct settings *settings, const struct latency_cell *cells, unsigned count)
{
        unsigned curves = settings->config_count * settings->producers_count;
        for (unsigned curve = 0; curve < curves; curve++) {
                bool begun = false;
                for (const struct latency_cell *cell = cells; cell < cells + count; cell++) {
                        if (cell->curve != curve || !cell->row_count)
                                continue;
                        if (!begun)
                                print_heading(cell);
                        begun = true;
                        print_line(cell);
                }
        }
        puts("");
        for (unsigned curve = 0; curve < curves; curve++)
                print_sentence(cells, count, curve);
        print_notes(cells, count);
        return !fflush(stdout) && !ferror(stdout);
}
