/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Which configurations, and the differences between them. */
#include "explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4 };

/* What each step has lost; the name of a part is that of the step that loses it. */
static const char *const parts[STEPS] = {"whole", "wake", "allocator", "queue"};

/* The configuration's step: the cell itself, then less and less of it. */
static void print_step(const struct spec *spec, unsigned step, char *text, size_t bytes)
{
        struct spec reduced = *spec;
        char whole[SPEC_BYTES], queue[SPEC_BYTES];
        const char *alloc = spec_alloc_names[step < 2 ? spec->alloc : SPEC_SLAB];
        spec_print(&reduced, whole, sizeof whole);
        snprintf(queue, sizeof queue, "%.*s", (int)strcspn(whole, "/"), whole);
        if (!step)
                snprintf(text, bytes, "%s", whole);
        else
                snprintf(text, bytes, "%s/poll/none/%s", step == 3 ? "private" : queue, alloc);
}

static bool has_config(const struct settings *settings, const char *config)
{
        for (unsigned i = 0; i < settings->config_count; i++) {
                char text[SPEC_BYTES];
                spec_print(&settings->configs[i], text, sizeof text);
                if (!strcmp(text, config))
                        return true;
        }
        return false;
}

void explain_add_parts(struct settings *settings)
{
        unsigned asked = settings->config_count;
        if (settings->aa)
                die("--explain and --aa can't be given together; allowed: one of them");
        for (unsigned i = 0; i < asked; i++)
                for (unsigned step = 1; step < STEPS; step++) {
                        char text[SPEC_BYTES + 32];
                        print_step(&settings->configs[i], step, text, sizeof text);
                        if (!has_config(settings, text))
                                settings_configs(settings, "--explain", text);
                }
        settings->explain = asked; /* the first ones are to be explained */
}

/* ns per submit, each measured as the median of its samples, a difference as that of its pairs. */
struct part {
        const char *name;
        struct median ns;
};

static struct median differences(
        const struct summary *summary, const struct cell *a, const struct cell *b)
{
        double *left = must_allocate(summary->row_count * sizeof *left);
        double *right = must_allocate(summary->row_count * sizeof *right);
        unsigned pairs = summary_paired(summary, a, b, summary_cpu_ns, left, right);
        for (unsigned i = 0; i < pairs; i++)
                left[i] -= right[i];
        struct median median = median_of(left, pairs);
        free(left);
        free(right);
        return median;
}

static double off_cpu_ns(const struct row *row)
{
        double active_ns = row->overlap * (double)row->producers * (double)row->submit_ns;
        return (active_ns - (double)row->producer_cpu_ns) / (double)row->submits;
}

static struct median off_cpu(const struct summary *summary, const struct cell *cell)
{
        double *values = must_allocate(summary->row_count * sizeof *values);
        double *same = must_allocate(summary->row_count * sizeof *same);
        unsigned count = summary_paired(summary, cell, cell, off_cpu_ns, values, same);
        struct median median = median_of(values, count);
        free(values);
        free(same);
        return median;
}

static void print_part(const struct part *part, const struct cell *cell, FILE *csv)
{
        const struct median *ns = &part->ns;
        if (!ns->count) {
                printf("  %-34s  no samples to compare\n", part->name);
        } else {
                bool unclear = ns->lo <= 0 && ns->hi >= 0;
                printf("  %-34s %10.2f [%10.2f, %10.2f]%s\n", part->name, ns->median, ns->lo,
                        ns->hi, unclear ? "  not told from 0" : "");
        }
        if (!csv)
                return;
        fprintf(csv, "%s,%u,%s", cell->config, cell->producers, part->name);
        const double numbers[] = {ns->median, ns->lo, ns->hi, ns->coverage};
        for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
                fprintf(csv, isfinite(numbers[i]) ? ",%.6g" : ",NA", numbers[i]);
        fprintf(csv, ",measured\n");
}

static void explain(
        const struct summary *summary, const struct spec *spec, unsigned producers, FILE *csv)
{
        const struct cell *cells[STEPS];
        for (unsigned step = 0; step < STEPS; step++) {
                char text[SPEC_BYTES + 32];
                print_step(spec, step, text, sizeof text);
                cells[step] = summary_find(summary, text, producers);
                if (!cells[step])
                        return; /* interrupted before */
        }
        printf("\n%s at %u producer%s: CPU ns of a submit\n", cells[0]->config, producers,
                producers == 1 ? "" : "s");
        print_part(&(struct part){parts[0], cells[0]->cpu_ns_per_submit}, cells[0], csv);
        for (unsigned step = 1; step < STEPS; step++)
                print_part(&(struct part){parts[step],
                                   differences(summary, cells[step - 1], cells[step])},
                        cells[0], csv);
        print_part(&(struct part){"rest: engine and loop", cells[STEPS - 1]->cpu_ns_per_submit},
                cells[0], csv);
        print_part(
                &(struct part){"beside: off the CPU", off_cpu(summary, cells[0])}, cells[0], csv);
}

bool explain_print(
        const struct settings *settings, const struct summary *summary, const struct rundir *rundir)
{
        FILE *csv = rundir_file(rundir, "explain.csv");
        if (csv)
                fputs("config,producers,part,cpu_ns_per_submit_median,cpu_ns_per_submit_lo,"
                      "cpu_ns_per_submit_hi,coverage,kind\n",
                        csv);
        for (unsigned i = 0; i < settings->explain; i++)
                for (unsigned p = 0; p < settings->producers_count; p++)
                        explain(summary, &settings->configs[i], settings->producers[p], csv);
        puts("\nwake: the cell less the same under poll; allocator: that less the same with slab; "
             "queue: that\nless private, which has none. Medians of paired differences. What this "
             "can't see: how the parts\nact on each other (each is taken away in this order), the "
             "FFI thread's share of a producer's CPU\n(without a wake it sleeps until the poll, "
             "and "
             "the backlog grows), and waiting: off the CPU.");
        bool written = !csv || !fclose(csv);
        if (!written)
                fputs("fanin: explain.csv can't be written\n", stderr);
        return written && !fflush(stdout) && !ferror(stdout);
}
