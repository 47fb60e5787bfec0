/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One sample: warm-up, measured rounds, and what the clocks and the checks say of them.
 *
 * A round: every producer submits its volume (or until the deadline), then all callbacks are
 * awaited. The phase ends with the last producer's return from its last submit, so draining is
 * outside it.
 *
 * Warm-up, in the same process: `auto` runs rounds of growing volume, each in a context of its own
 * (a slab is as large as its round); the context of the last warm-up round is the measured one, so
 * its memory has been touched and its threads have run.
 */
#include "sample.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../engine/context.h"
#include "check.h"
#include "clock.h"
#include "producers.h"
#include "row.h"
#include "work.h"

enum {
        LEAST_VOLUME = 16,  /* where auto starts */
        PATIENCE_MS = 2000, /* at most, without one callback, until requests count as missing */
};

static struct {
        const struct settings *settings;
        const struct spec *spec;
        unsigned producers;
        fanin_handle handle;
        uint64_t volume;   /* per producer and round */
        uint64_t accepted; /* in the open context */
        struct producers_turn *turns;
        uint64_t *turn_accepted; /* of the last round, by producer */
        /* the FFI thread's */
        alignas(QUEUE_LINE) struct check check;
        _Atomic uint64_t called_back;
        uint64_t cancelled, last_callback_ns;
} bench;

/* Sums over rounds. */
struct totals {
        uint64_t rounds, submits, refused, submit_ns, complete_ns, cpu_ns, active_ns;
        uint64_t lost, doubled, disordered;
        uint64_t *active_ns_of, *accepted_of; /* by producer */
};

static uint64_t backlog_peak; /* the measuring thread's */

/* The last request of a producer is one whose id ends a block of PRODUCERS_CLOCK_EVERY or the
 * round, but for drops, where any may be. */
static void called_back(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg;
        (void)len;
        uint64_t id = producers_id_of(user_data);
        if (bench.settings->check)
                check_one(&bench.check, producers_number_of(user_data), id);
        if (id % PRODUCERS_CLOCK_EVERY == PRODUCERS_CLOCK_EVERY - 1 || id == bench.volume - 1 ||
                bench.settings->drop_on_full)
                bench.last_callback_ns = clock_wall_ns();
        bench.cancelled += ret == FANIN_CANCELLED;
        /* Release, with the acquire in callbacks: check and times are read after the last one. */
        atomic_store_explicit(&bench.called_back,
                atomic_load_explicit(&bench.called_back, memory_order_relaxed) + 1,
                memory_order_release);
}

static uint64_t callbacks(void)
{
        return atomic_load_explicit(&bench.called_back, memory_order_acquire);
}

static int handle_request(
        void *data, const void *payload, size_t payload_bytes, const char **msg, size_t *len)
{
        (void)data;
        (void)payload;
        (void)payload_bytes;
        (void)msg;
        (void)len;
        work_ns(bench.settings->handler_ns);
        return FANIN_OK;
}

static bool open_context(struct row *row, uint64_t volume)
{
        bench.volume = volume;
        bench.accepted = 0;
        atomic_store_explicit(&bench.called_back, 0, memory_order_relaxed);
        bench.cancelled = 0;
        char config[SPEC_BYTES], why[192];
        spec_print(bench.spec, config, sizeof config);
        struct fanin_options options = {
                .config = config,
                .producers = bench.producers,
                .backlog = volume * bench.producers,
                .poll_ms = (int)bench.settings->poll_ms,
                .handler = bench.settings->handler_ns ? handle_request : NULL,
        };
        if (bench.settings->check && !check_create(&bench.check, bench.producers, volume)) {
                snprintf(row->reason, sizeof row->reason, "no memory for the check");
                return false;
        }
        if (!fanin_create(&bench.handle, &options, why, sizeof why))
                return true;
        snprintf(row->reason, sizeof row->reason, "%s", why);
        return false;
}

static void close_context(void)
{
        fanin_destroy(bench.handle);
        bench.handle = 0;
        if (bench.settings->check)
                check_destroy(&bench.check);
}

/*
 * True when accepted callbacks are in and the FFI thread sleeps again, so that what it wrote
 * (check, times, counters) may be read, duplicates included; false when PATIENCE_MS went by without
 * a callback.
 */
static bool await_callbacks(uint64_t accepted)
{
        struct fanin_stats stats;
        uint64_t seen = callbacks(), since_ns = clock_wall_ns();
        /* Well before the deadline, which would call it a hang. */
        double patience_ms = fmin(PATIENCE_MS, bench.settings->deadline_s * 250);
        uint64_t patience_ns = (uint64_t)(patience_ms * 1e6) +
                               UINT64_C(4) * bench.settings->handler_ns +
                               UINT64_C(4000000) * bench.settings->poll_ms;
        while (seen < accepted || fanin_stats(bench.handle, &stats) || !stats.asleep) {
                usleep(200);
                uint64_t now_ns = clock_wall_ns(), count = callbacks();
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
        if (fanin_stats(bench.handle, &stats))
                return;
        uint64_t done = stats.completed + stats.cancelled;
        uint64_t backlog = stats.submits > done ? stats.submits - done : 0;
        backlog_peak = backlog > backlog_peak ? backlog : backlog_peak;
}

/* The phase's first start and last end; adds the turns up. False: a submit failed. */
static bool add_turns(struct totals *totals, uint64_t *first_ns, uint64_t *last_ns, int *fault)
{
        *first_ns = UINT64_MAX;
        *last_ns = 0;
        *fault = FANIN_OK;
        for (unsigned i = 0; i < bench.producers; i++) {
                const struct producers_turn *turn = &bench.turns[i];
                *first_ns = turn->start_ns < *first_ns ? turn->start_ns : *first_ns;
                *last_ns = turn->end_ns > *last_ns ? turn->end_ns : *last_ns;
                *fault = turn->fault ? turn->fault : *fault;
                bench.turn_accepted[i] = turn->accepted;
                bench.accepted += turn->accepted;
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
        fanin_destroy(bench.handle);
        bench.handle = 0;
        uint64_t missing = bench.accepted > callbacks() ? bench.accepted - callbacks() : 0;
        row_set_status(row, missing ? STATUS_LOST : STATUS_LOST_WAKE);
        snprintf(row->reason, sizeof row->reason,
                "callbacks ceased in round %" PRIu64 "; of %" PRIu64 " missing, %" PRIu64
                " came when the context was destroyed",
                totals->rounds, missing + bench.cancelled, bench.cancelled);
}

/* One round and its check. False: the row has its status already. */
static bool run_round(
        struct row *row, struct totals *totals, uint64_t deadline_ns, uint64_t *phase_ns)
{
        const struct producers_round round = {.handle = bench.handle,
                .volume = bench.volume,
                .deadline_ns = deadline_ns,
                .callback = called_back,
                .flushes = bench.spec->queue->flush};
        uint64_t first_ns, last_ns;
        int fault;
        producers_run(&round, sample_backlog, bench.turns);
        if (!add_turns(totals, &first_ns, &last_ns, &fault)) {
                row_set_status(row, STATUS_REFUSED);
                snprintf(row->reason, sizeof row->reason, "submit: %s", fanin_result_text(fault));
                return false;
        }
        *phase_ns = last_ns - first_ns;
        if (!await_callbacks(bench.accepted)) {
                find_missing(row, totals);
                return false;
        }
        uint64_t end_ns = bench.last_callback_ns > last_ns ? bench.last_callback_ns : last_ns;
        totals->complete_ns += end_ns - first_ns;
        if (bench.settings->check) {
                totals->lost += check_round_ends(&bench.check, bench.turn_accepted);
                totals->doubled += bench.check.doubled;
                totals->disordered += bench.check.disordered;
                bench.check.doubled = bench.check.disordered = 0;
        }
        return true;
}

/* The volume for the next warm-up round; the same one: enough. A round, drains included, is to fit
 * into half of max_sample. */
static uint64_t next_volume(uint64_t volume, uint64_t phase_ns, uint64_t round_ns)
{
        double target_ns = bench.settings->min_time_s * 1e9;
        if ((double)phase_ns * 2 >= target_ns)
                return volume;
        size_t request_bytes = sizeof(struct slab_request) + bench.spec->queue->cell_bytes;
        const double limits[] = {
                4 * (double)volume,
                (double)volume * target_ns / (double)(phase_ns + 1),
                (double)volume * bench.settings->max_sample_s * 0.5e9 / (double)(round_ns + 1),
                (double)bench.settings->max_backlog_bytes /
                        (double)(request_bytes * bench.producers),
        };
        double next = limits[0];
        for (unsigned i = 1; i < sizeof limits / sizeof limits[0]; i++)
                next = limits[i] < next ? limits[i] : next;
        return next > (double)volume ? (uint64_t)next : volume;
}

/* Leaves a warm context of the right volume open. False: the row has its status. */
static bool warm_up(struct row *row, struct totals *warm)
{
        const struct settings *settings = bench.settings;
        uint64_t volume = settings->per_producer ? settings->per_producer : LEAST_VOLUME;
        uint64_t end_ns = clock_wall_ns() + (uint64_t)(settings->max_sample_s * 1e9);
        for (;;) {
                uint64_t phase_ns, before_ns = warm->complete_ns;
                if (!open_context(row, volume)) {
                        row_set_status(row, STATUS_REFUSED);
                        return false;
                }
                if (!run_round(row, warm, end_ns, &phase_ns))
                        return false;
                uint64_t next = next_volume(volume, phase_ns, warm->complete_ns - before_ns);
                if (settings->per_producer || next == volume || clock_wall_ns() > end_ns)
                        return true;
                close_context();
                volume = next;
        }
}

static void subtract_stats(
        struct row *row, const struct fanin_stats *a, const struct fanin_stats *b)
{
        row->wakes = b->wakes - a->wakes;
        row->wakes_elided = b->wakes_elided - a->wakes_elided;
        row->stalls = b->stalls - a->stalls;
        row->stalled_ns = b->stalled_ns - a->stalled_ns;
        row->drains = b->drains - a->drains;
        row->largest_drain = b->largest_drain;
        /* A wake lost in the warm-up is one, too. */
        row->late_wakes = b->late_wakes;
        row->lost_wakes = b->lost_wakes;
}

/* Jain's index over the producers' own rates. */
static double fairness(const struct totals *totals)
{
        double sum = 0, squares = 0;
        for (unsigned i = 0; i < bench.producers; i++) {
                uint64_t ns = totals->active_ns_of[i];
                double rate = ns ? (double)totals->accepted_of[i] / (double)ns : 0;
                sum += rate;
                squares += rate * rate;
        }
        return squares > 0 ? sum * sum / (bench.producers * squares) : 0;
}

static void fill_row(struct row *row, const struct totals *totals)
{
        row->measured = true;
        row->rounds = totals->rounds;
        row->per_producer = bench.volume;
        row->submits = totals->submits;
        row->refused = totals->refused;
        row->submit_ns = totals->submit_ns;
        row->complete_ns = totals->complete_ns;
        row->submit_per_s = (double)totals->submits * 1e9 / (double)totals->submit_ns;
        row->complete_per_s = (double)totals->submits * 1e9 / (double)totals->complete_ns;
        row->producer_cpu_ns = totals->cpu_ns;
        row->overlap =
                (double)totals->active_ns / ((double)bench.producers * (double)totals->submit_ns);
        row->backlog_peak = backlog_peak;
        row->fairness_jain = fairness(totals);
}

/* The accounting of fanin.h, asserted at the end of every sample: all is idle here. */
static bool accounts_balance(const struct fanin_stats *stats)
{
        return stats->submits == stats->completed + stats->cancelled &&
               stats->wakes + stats->wakes_elided ==
                       stats->submits - stats->kept + stats->flushes &&
               stats->submits == bench.accepted && stats->submits == callbacks();
}

static void judge(struct row *row, const struct totals *warm, const struct totals *totals,
        const struct fanin_stats *stats)
{
        uint64_t lost = warm->lost + totals->lost, doubled = warm->doubled + totals->doubled;
        uint64_t disordered = warm->disordered + totals->disordered;
        if (!(bench.spec->queue->traits & QUEUE_FIFO_PRODUCER))
                disordered = 0; /* it promises no order */
        /* A request handed back twice may be overwritten by its next use, and a lost one's place be
         * taken: what there is more of names the row. */
        enum row_status status = lost && lost >= doubled ? STATUS_LOST
                                 : doubled               ? STATUS_DOUBLED
                                 : disordered            ? STATUS_DISORDERED
                                 : stats->lost_wakes     ? STATUS_LOST_WAKE
                                                         : STATUS_OK;
        row_set_status(row, status);
        if (status != STATUS_OK)
                snprintf(row->reason, sizeof row->reason,
                        "%" PRIu64 " lost, %" PRIu64 " doubled, %" PRIu64 " out of order, %" PRIu64
                        " wakes lost",
                        lost, doubled, disordered, stats->lost_wakes);
        else if (!accounts_balance(stats)) {
                /* More callbacks than submits, say, with --check off. */
                row_set_status(row, STATUS_DOUBLED);
                snprintf(row->reason, sizeof row->reason,
                        "the accounts don't balance: %" PRIu64 " accepted, %" PRIu64 " called back",
                        bench.accepted, callbacks());
        }
}

static struct totals new_totals(void)
{
        return (struct totals){
                .active_ns_of = must_allocate(bench.producers * sizeof(uint64_t)),
                .accepted_of = must_allocate(bench.producers * sizeof(uint64_t)),
        };
}

static void free_totals(struct totals *totals)
{
        free(totals->active_ns_of);
        free(totals->accepted_of);
}

/* Rounds until min_time of submit time or max_sample of wall time. False: the row has its status.
 */
static bool measured_rounds(struct row *row, struct totals *totals)
{
        uint64_t min_ns = (uint64_t)(bench.settings->min_time_s * 1e9), phase_ns;
        uint64_t end_ns = clock_wall_ns() + (uint64_t)(bench.settings->max_sample_s * 1e9);
        do
                if (!run_round(row, totals, end_ns, &phase_ns))
                        return false;
        while (totals->submit_ns < min_ns && clock_wall_ns() < end_ns);
        return true;
}

static void measure(struct row *row)
{
        struct totals warm = new_totals(), totals = new_totals();
        struct fanin_stats before, after;
        if (warm_up(row, &warm)) {
                backlog_peak = 0;
                fanin_stats(bench.handle, &before);
                if (measured_rounds(row, &totals)) {
                        fanin_stats(bench.handle, &after);
                        subtract_stats(row, &before, &after);
                        fill_row(row, &totals);
                        judge(row, &warm, &totals, &after);
                        close_context();
                }
        }
        free_totals(&warm);
        free_totals(&totals);
}

int sample_main(const struct settings *settings)
{
        struct row row = {.measured = false};
        if (settings->config_count != 1)
                die("--config names %u configurations; allowed in `fanin sample`: one",
                        settings->config_count);
        if (settings->producers_count != 1)
                die("--producers names %u counts; allowed in `fanin sample`: one",
                        settings->producers_count);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the sweep's end is ours */
        bench.settings = settings;
        bench.spec = settings->configs;
        bench.producers = settings->producers[0];
        bench.turns = must_allocate(bench.producers * sizeof *bench.turns);
        bench.turn_accepted = must_allocate(bench.producers * sizeof *bench.turn_accepted);
        if (settings->think_ns || settings->handler_ns)
                work_calibrate();

        row_set_status(&row, STATUS_REFUSED);
        if (producers_start(settings, bench.producers, row.reason, sizeof row.reason)) {
                /* The FFI thread inherits this thread's CPU. */
                bool pinned = !settings->cpu_count || producers_pin(settings->cpus[0]);
                measure(&row);
                const char *all = producers_end();
                row_set_text(row.pinned, sizeof row.pinned, pinned ? all : "no");
        }
        free(bench.turns);
        free(bench.turn_accepted);
        return row_send(stdout, &row) ? EXIT_DONE : EXIT_FAILED;
}
