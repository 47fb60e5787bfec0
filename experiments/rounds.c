/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Runs rounds; finds out what is missing when callbacks cease. */
#include "rounds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "work.h"

enum { PATIENCE_MS = 2000 }; /* at most, without a callback, until requests count as missing */

struct rounds rounds;

void rounds_init(const struct settings *settings)
{
        rounds.settings = settings;
        rounds.spec = settings->configs;
        rounds.producers = settings->producers[0];
        rounds.turns = must_allocate(rounds.producers * sizeof *rounds.turns);
        rounds.turn_accepted = must_allocate(rounds.producers * sizeof *rounds.turn_accepted);
}

void rounds_free(void)
{
        free(rounds.turns);
        free(rounds.turn_accepted);
}

/* The last request of a producer is one whose id ends a block of PRODUCERS_CLOCK_EVERY or the
 * round, but for drops, where any may be. */
static void called_back(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg;
        (void)len;
        uint64_t id = producers_id_of(user_data);
        if (!rounds.settings->no_check)
                check_one(&rounds.check, producers_number_of(user_data), id);
        if (id % PRODUCERS_CLOCK_EVERY == PRODUCERS_CLOCK_EVERY - 1 || id == rounds.volume - 1 ||
                rounds.settings->drop_on_full)
                rounds.last_callback_ns = clock_wall_ns();
        rounds.cancelled += ret == FANIN_CANCELLED;
        /* Release, with the acquire in rounds_callbacks: check and times are read after the last
         * one. */
        atomic_store_explicit(&rounds.called_back,
                atomic_load_explicit(&rounds.called_back, memory_order_relaxed) + 1,
                memory_order_release);
}

uint64_t rounds_callbacks(void)
{
        return atomic_load_explicit(&rounds.called_back, memory_order_acquire);
}

static int handle_request(
        void *data, const void *payload, size_t payload_bytes, const char **msg, size_t *len)
{
        (void)data;
        (void)payload;
        (void)payload_bytes;
        (void)msg;
        (void)len;
        work_ns(rounds.settings->handler_ns);
        return FANIN_OK;
}

bool rounds_open(struct row *row, uint64_t volume)
{
        rounds.volume = volume;
        rounds.accepted = 0;
        atomic_store_explicit(&rounds.called_back, 0, memory_order_relaxed);
        rounds.cancelled = 0;
        char config[SPEC_BYTES], why[192];
        spec_print(rounds.spec, config, sizeof config);
        struct fanin_options options = {
                .config = config,
                .producers = rounds.producers,
                .backlog = volume * rounds.producers,
                .poll_ms = (int)rounds.settings->poll_ms,
                .handler = rounds.settings->handler_ns ? handle_request : NULL,
        };
        if (!rounds.settings->no_check && !check_create(&rounds.check, rounds.producers, volume)) {
                snprintf(row->reason, sizeof row->reason, "no memory for the check");
                return false;
        }
        if (!fanin_create(&rounds.handle, &options, why, sizeof why))
                return true;
        snprintf(row->reason, sizeof row->reason, "%s", why);
        return false;
}

void rounds_close(void)
{
        fanin_destroy(rounds.handle);
        rounds.handle = 0;
        if (!rounds.settings->no_check)
                check_destroy(&rounds.check);
}

/*
 * True when accepted callbacks are in and the FFI thread sleeps again, so that what it wrote
 * (check, times, counters) may be read, duplicates included; false when PATIENCE_MS went by without
 * a callback.
 */
static bool await_callbacks(uint64_t accepted)
{
        struct fanin_stats stats;
        uint64_t seen = rounds_callbacks(), since_ns = clock_wall_ns();
        /* Well before the deadline, which would call it a hang. */
        double patience_ms = fmin(PATIENCE_MS, rounds.settings->deadline_s * 250);
        uint64_t patience_ns = (uint64_t)(patience_ms * 1e6) +
                               UINT64_C(4) * rounds.settings->handler_ns +
                               UINT64_C(4000000) * rounds.settings->poll_ms;
        while (seen < accepted || fanin_stats(rounds.handle, &stats) || !stats.asleep) {
                usleep(200);
                uint64_t now_ns = clock_wall_ns(), count = rounds_callbacks();
                if (count != seen)
                        since_ns = now_ns;
                else if (now_ns - since_ns > patience_ns)
                        return false;
                seen = count;
        }
        return true;
}

/* Called each millisecond of a phase. */
static void sample_backlog(void)
{
        struct fanin_stats stats;
        if (fanin_stats(rounds.handle, &stats))
                return;
        uint64_t done = stats.completed + stats.cancelled;
        uint64_t backlog = stats.submits > done ? stats.submits - done : 0;
        if (backlog > rounds.backlog_peak)
                rounds.backlog_peak = backlog;
}

/* The phase's first start and last end; adds the turns up. False: a submit failed. */
static bool add_turns(struct totals *totals, uint64_t *first_ns, uint64_t *last_ns, int *fault)
{
        *first_ns = UINT64_MAX;
        *last_ns = 0;
        *fault = FANIN_OK;
        for (unsigned i = 0; i < rounds.producers; i++) {
                const struct producers_turn *turn = &rounds.turns[i];
                *first_ns = turn->start_ns < *first_ns ? turn->start_ns : *first_ns;
                *last_ns = turn->end_ns > *last_ns ? turn->end_ns : *last_ns;
                *fault = turn->fault ? turn->fault : *fault;
                rounds.turn_accepted[i] = turn->accepted;
                rounds.accepted += turn->accepted;
                totals->submits += turn->accepted;
                totals->refused += turn->refused;
                totals->cpu_ns += turn->cpu_ns;
                totals->active_ns += turn->end_ns - turn->start_ns;
                totals->active_ns_of[i] += turn->end_ns - turn->start_ns;
                totals->accepted_of[i] += turn->accepted;
        }
        totals->rounds++;
        totals->submit_ns += *last_ns - *first_ns;
        return !*fault;
}

/*
 * Requests went missing. Destroying the context cancels what is still queued: if that brings all of
 * them, the queue had them and nobody was woken; if not, they are lost.
 */
static void find_missing(struct row *row, const struct totals *totals)
{
        fanin_destroy(rounds.handle);
        rounds.handle = 0;
        uint64_t missing =
                rounds.accepted > rounds_callbacks() ? rounds.accepted - rounds_callbacks() : 0;
        row_set_status(row, missing ? STATUS_LOST : STATUS_LOST_WAKE);
        snprintf(row->reason, sizeof row->reason,
                "callbacks ceased in round %" PRIu64 "; of %" PRIu64 " missing, %" PRIu64
                " came when the context was destroyed",
                totals->rounds, missing + rounds.cancelled, rounds.cancelled);
}

bool rounds_run(struct row *row, struct totals *totals, uint64_t deadline_ns, uint64_t *phase_ns)
{
        const struct producers_round round = {.handle = rounds.handle,
                .volume = rounds.volume,
                .deadline_ns = deadline_ns,
                .callback = called_back,
                .flushes = rounds.spec->queue->flush};
        uint64_t first_ns, last_ns;
        int fault;
        producers_run(&round, sample_backlog, rounds.turns);
        if (!add_turns(totals, &first_ns, &last_ns, &fault)) {
                row_set_status(row, STATUS_REFUSED);
                snprintf(row->reason, sizeof row->reason, "submit: %s", fanin_result_text(fault));
                return false;
        }
        *phase_ns = last_ns - first_ns;
        if (!await_callbacks(rounds.accepted)) {
                find_missing(row, totals);
                return false;
        }
        uint64_t end_ns = rounds.last_callback_ns > last_ns ? rounds.last_callback_ns : last_ns;
        totals->complete_ns += end_ns - first_ns;
        if (!rounds.settings->no_check) {
                totals->lost += check_round_ends(&rounds.check, rounds.turn_accepted);
                totals->doubled += rounds.check.doubled;
                totals->disordered += rounds.check.disordered;
                rounds.check.doubled = rounds.check.disordered = 0;
        }
        return true;
}
