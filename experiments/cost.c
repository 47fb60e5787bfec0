/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Measures what measuring costs: medians of batches long enough for the clock's tick. */
#include "cost.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"
#include "producers.h"

const char cost_config[] = "private/pending/eventfd/slab";

enum { BATCHES = 101, READS = 64, PAIRS = 21, VOLUME = 1 << 15, PATIENCE_S = 20 };

struct median cost_clock_read_ns(void)
{
        double read_ns[BATCHES];
        for (unsigned i = 0; i < BATCHES; i++) {
                struct timespec start, now;
                if (clock_gettime(CLOCK_MONOTONIC, &start))
                        return median_of(NULL, 0);
                for (unsigned j = 0; j < READS; j++)
                        clock_gettime(CLOCK_MONOTONIC, &now);
                read_ns[i] = ((double)(now.tv_sec - start.tv_sec) * 1e9 +
                                     (double)(now.tv_nsec - start.tv_nsec)) /
                             READS;
        }
        return median_of(read_ns, BATCHES);
}

struct median cost_check_ns(void)
{
        struct check check;
        double check_ns[PAIRS];
        const uint64_t accepted = VOLUME;
        if (!check_create(&check, 1, VOLUME))
                return median_of(NULL, 0);
        for (unsigned i = 0; i < PAIRS; i++) {
                uint64_t start_ns = clock_wall_ns();
                for (uint64_t id = 0; id < VOLUME; id++) {
                        check_one(&check, 0, id);
                        __asm__ volatile("" ::: "memory"); /* as a callback's: each by itself */
                }
                check_ns[i] = (double)(clock_wall_ns() - start_ns) / VOLUME;
                check_round_ends(&check, &accepted);
        }
        check_destroy(&check);
        return median_of(check_ns, PAIRS);
}

static _Atomic uint64_t called_back;

static void call_back(int ret, const char *msg, size_t len, void *user_data)
{
        (void)ret, (void)msg, (void)len, (void)user_data;
        atomic_fetch_add_explicit(&called_back, 1, memory_order_relaxed);
}

/* The least that a producer can do: no name for a request, no look at the clock, nothing counted.
 */
static void submit_bare(const struct producers_round *asked, unsigned number, unsigned index,
        struct producers_turn *turn)
{
        const struct producers_round round = *asked;
        int fault = FANIN_OK;
        (void)number;
        uint64_t start_ns = clock_wall_ns();
        for (uint64_t done = 0; done < round.volume; done++)
                fault |= fanin_submit_as(round.handle, index, NULL, 0, round.callback, NULL);
        *turn = (struct producers_turn){.start_ns = start_ns,
                .end_ns = clock_wall_ns(),
                .accepted = round.volume,
                .fault = fault};
}

/* One turn's time per submit, its callbacks awaited; NAN: some were refused, or are missing. */
static double time_turn(struct producers_round *round, bool bare)
{
        struct producers_turn turn;
        uint64_t end_ns = clock_wall_ns() + PATIENCE_S * UINT64_C(1000000000);
        round->submit = bare ? submit_bare : NULL;
        atomic_store_explicit(&called_back, 0, memory_order_relaxed);
        producers_run(round, NULL, &turn);
        while (atomic_load_explicit(&called_back, memory_order_relaxed) < round->volume)
                if (usleep(100) || clock_wall_ns() > end_ns)
                        return NAN;
        bool whole = turn.fault == FANIN_OK && turn.accepted == round->volume;
        return whole ? (double)(turn.end_ns - turn.start_ns) / (double)round->volume : NAN;
}

static bool time_pairs(struct producers_round *round, struct cost_submit *out)
{
        double bare_ns[PAIRS], measured_ns[PAIRS], added_ns[PAIRS];
        for (unsigned i = 0; i <= PAIRS; i++) {
                double of[2]; /* by bare: who goes first takes turns too */
                bool first = i % 2;
                of[first] = time_turn(round, first);
                of[!first] = time_turn(round, !first);
                if (isnan(of[0]) || isnan(of[1]))
                        return false;
                if (!i)
                        continue; /* to warm up: the slab is touched for the first time */
                bare_ns[i - 1] = of[true];
                measured_ns[i - 1] = of[false];
                added_ns[i - 1] = of[false] - of[true];
        }
        *out = (struct cost_submit){median_of(bare_ns, PAIRS), median_of(measured_ns, PAIRS),
                median_of(added_ns, PAIRS)};
        return true;
}

bool cost_submit(struct cost_submit *out, char *why, size_t why_bytes)
{
        static uint64_t first_tried_ns[VOLUME / PRODUCERS_CLOCK_EVERY + 1];
        static _Atomic bool ends_between;
        struct settings settings;
        struct producers_round round = {.volume = VOLUME,
                .deadline_ns = UINT64_MAX,
                .callback = call_back,
                .first_tried_ns = first_tried_ns,
                .first_tried_each = sizeof first_tried_ns / sizeof *first_tried_ns,
                .ends_between = &ends_between,
                .flushes = true};
        const struct fanin_options options = {
                .config = cost_config, .producers = 1, .backlog = VOLUME};
        settings_init(&settings);
        bool timed = false;
        if (producers_start(&settings, 1, why, why_bytes)) {
                if (!fanin_create(&round.handle, &options, why, why_bytes)) {
                        timed = time_pairs(&round, out);
                        if (!timed)
                                snprintf(why, why_bytes, "not all submits came back");
                        fanin_destroy(round.handle);
                }
                producers_end();
        }
        settings_free(&settings);
        return timed;
}
