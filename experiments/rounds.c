/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Runs rounds; finds out what is missing when callbacks cease. */
#include "rounds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/context.h"
#include "clock.h"
#include "work.h"

enum {
        PATIENCE_MS = 2000, /* at most, without a callback, until requests count as missing */
        LOOK_US = 200,      /* between looks whether a round is drained */
};

struct rounds rounds;

void rounds_init(const struct settings *settings)
{
        rounds.settings = settings;
        rounds.spec = settings->configs;
        rounds.producers = settings->producers[0];
        rounds.turns = must_allocate(rounds.producers * sizeof *rounds.turns);
        rounds.turn_accepted = must_allocate(rounds.producers * sizeof *rounds.turn_accepted);
        rounds.oldest_ns = must_allocate(rounds.producers * sizeof *rounds.oldest_ns);
}

void rounds_free(void)
{
        free(rounds.turns);
        free(rounds.turn_accepted);
        free(rounds.oldest_ns);
}

static void note_time(unsigned number, uint64_t id)
{
        uint64_t now_ns = rounds.last_callback_ns = clock_wall_ns();
        if (id % PRODUCERS_CLOCK_EVERY)
                return;
        /* Written before the request was pushed. */
        uint64_t age_ns = now_ns - rounds.first_tried_ns[number * rounds.first_tried_each +
                                                         id / PRODUCERS_CLOCK_EVERY];
        if (age_ns > rounds.oldest_ns[number])
                rounds.oldest_ns[number] = age_ns;
}

/*
 * The last request of a producer is one with a stamp or its volume's last: the clock is read for
 * those. If it is another, its producer says so before it stamps its own end, and after that the
 * clock is read always; a callback that came before was not after that end.
 */
static void called_back(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg;
        (void)len;
        uint64_t id = producers_id_of(user_data);
        unsigned number = producers_number_of(user_data);
        if (!rounds.settings->no_check)
                check_one(&rounds.check, number, id);
        if (id % PRODUCERS_CLOCK_EVERY == 0 || id == rounds.volume - 1 ||
                atomic_load_explicit(&rounds.ends_between, memory_order_relaxed))
                note_time(number, id);
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

static enum row_status status_of(int result)
{
        return result == FANIN_NO_MEMORY ? STATUS_OOM : STATUS_REFUSED;
}

/* The check's memory and the stamps'. */
static bool allocate(uint64_t volume)
{
        enum { PER_LINE = QUEUE_LINE / sizeof(uint64_t) };
        size_t each = volume / PRODUCERS_CLOCK_EVERY + 1;
        rounds.first_tried_each = (each + PER_LINE - 1) / PER_LINE * PER_LINE;
        rounds.first_tried_ns = context_lines(
                rounds.producers * rounds.first_tried_each * sizeof *rounds.first_tried_ns);
        return rounds.first_tried_ns &&
               (rounds.settings->no_check || check_create(&rounds.check, rounds.producers, volume));
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
        if (!allocate(volume)) {
                row_set_status(row, STATUS_OOM);
                snprintf(row->reason, sizeof row->reason,
                        "no memory for the check of %" PRIu64 " requests a producer", volume);
                return false;
        }
        int result = fanin_create(&rounds.handle, &options, why, sizeof why);
        if (!result)
                return true;
        row_set_status(row, status_of(result));
        snprintf(row->reason, sizeof row->reason, "%s", why);
        return false;
}

void rounds_close(void)
{
        fanin_destroy(rounds.handle);
        rounds.handle = 0;
        free(rounds.first_tried_ns);
        if (!rounds.settings->no_check)
                check_destroy(&rounds.check);
}

/* Called each millisecond. */
static void sample_backlog(void)
{
        struct fanin_stats stats;
        if (fanin_stats(rounds.handle, &stats) || !stats.counted)
                return;
        uint64_t done = stats.completed + stats.cancelled;
        backlog_note(
                &rounds.backlog, clock_wall_ns(), stats.submits > done ? stats.submits - done : 0);
}

void rounds_begin_measured(void)
{
        memset(rounds.oldest_ns, 0, rounds.producers * sizeof *rounds.oldest_ns);
        backlog_begin(&rounds.backlog, clock_wall_ns());
        sample_backlog();
}

/*
 * True when accepted callbacks are in and the FFI thread sleeps again, so that what it wrote
 * (check, times, counters) may be read, duplicates included; false when PATIENCE_MS went by without
 * a callback.
 */
static bool await_callbacks(uint64_t accepted)
{
        struct fanin_stats stats;
        unsigned looks = 0;
        uint64_t seen = rounds_callbacks(), since_ns = clock_wall_ns();
        /* Well before the deadline, which would call it a hang. */
        double patience_ms = fmin(PATIENCE_MS, rounds.settings->deadline_s * 250);
        uint64_t patience_ns = (uint64_t)(patience_ms * 1e6) +
                               UINT64_C(4) * rounds.settings->handler_ns +
                               UINT64_C(4000000) * rounds.settings->poll_ms;
        while (seen < accepted || fanin_stats(rounds.handle, &stats) || !stats.asleep) {
                usleep(LOOK_US);
                if (++looks % (1000 / LOOK_US) == 0)
                        sample_backlog();
                uint64_t now_ns = clock_wall_ns(), count = rounds_callbacks();
                if (count != seen)
                        since_ns = now_ns;
                else if (now_ns - since_ns > patience_ns)
                        return false;
                seen = count;
        }
        return true;
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
                .first_tried_ns = rounds.first_tried_ns,
                .first_tried_each = rounds.first_tried_each,
                .ends_between = &rounds.ends_between,
                .flushes = rounds.spec->queue->flush};
        uint64_t first_ns, last_ns;
        int fault;
        atomic_store_explicit(&rounds.ends_between, false, memory_order_relaxed);
        producers_run(&round, sample_backlog, rounds.turns);
        if (!add_turns(totals, &first_ns, &last_ns, &fault)) {
                row_set_status(row, status_of(fault));
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
