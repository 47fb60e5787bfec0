/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One sample: producers behind a gate, rounds of submits, and what the clocks said.
 *
 * A round: the gate opens, every producer submits its volume (or until the deadline, looked at
 * every CLOCK_EVERY submits), then all callbacks are awaited. The phase ends with the last
 * producer's return from its last submit, so draining is outside it. Producers sleep at the gate,
 * they don't spin: any number of them starts on any number of CPUs.
 *
 * Warm-up, in the same process: `auto` runs rounds of growing volume, each in a context of its own
 * (a slab is as large as its round); the context of the last warm-up round is the measured one, so
 * its memory has been touched and its threads have run.
 */
#include "sample.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../engine/context.h"
#include "check.h"
#include "clock.h"
#include "row.h"
#include "work.h"

enum {
        CLOCK_EVERY = 64,   /* submits between two looks at the deadline */
        LEAST_VOLUME = 16,  /* where auto starts */
        ID_BITS = 40,       /* of user_data; the producer's number is above */
        PATIENCE_MS = 2000, /* without one callback, requests are given up for lost */
        THREAD_TRIES = 10,  /* of pthread_create on EAGAIN, 10 ms apart */
        STACK_BYTES = 256 * 1024,
        CPU_IDS = 8192,
};

struct producer {
        _Alignas(QUEUE_LINE) pthread_t thread;
        unsigned number; /* in this sample */
        bool pinned;
        int fault; /* a submit's unexpected result */
        /* of the last round */
        uint64_t start_ns, end_ns, cpu_ns, accepted, refused;
        /* of the measured rounds */
        uint64_t active_ns, total_accepted;
};

static struct {
        const struct settings *settings;
        const struct spec *spec;
        struct producer *producers;
        unsigned producer_count;
        fanin_handle handle;
        uint64_t per_producer, deadline_ns;
        /* the gate */
        pthread_mutex_t lock;
        pthread_cond_t opened, finished;
        unsigned round, running;
        bool over;
        /* the FFI thread's */
        _Alignas(QUEUE_LINE) struct check check;
        _Atomic uint64_t called_back;
        uint64_t cancelled, last_callback_ns;
} bench = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

/* Sums over the measured rounds. */
struct totals {
        uint64_t rounds, submits, refused, submit_ns, complete_ns, cpu_ns, active_ns, lost;
        uint64_t backlog_peak;
};

static void *request_name(unsigned producer, uint64_t id)
{
        return (void *)(uintptr_t)((uint64_t)producer << ID_BITS | id);
}

/* The last request of a producer is always one whose id ends a block of CLOCK_EVERY or the round.
 */
static void called_back(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg;
        (void)len;
        uint64_t name = (uintptr_t)user_data, id = name & ((UINT64_C(1) << ID_BITS) - 1);
        if (bench.settings->check)
                check_one(&bench.check, (unsigned)(name >> ID_BITS), id);
        if (id % CLOCK_EVERY == CLOCK_EVERY - 1 || id == bench.per_producer - 1)
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

static bool pin_to(unsigned cpu)
{
        cpu_set_t *set = CPU_ALLOC(CPU_IDS);
        size_t bytes = CPU_ALLOC_SIZE(CPU_IDS);
        if (!set)
                return false;
        CPU_ZERO_S(bytes, set);
        CPU_SET_S(cpu, bytes, set);
        bool pinned = !sched_setaffinity(0, bytes, set);
        CPU_FREE(set);
        return pinned;
}

/* The producer's loop: the submit phase as measured. */
static void submit_round(struct producer *producer, unsigned index)
{
        const struct settings *settings = bench.settings;
        uint64_t volume = bench.per_producer, accepted = 0, refused = 0, turns = 0;
        uint64_t cpu_ns = clock_thread_cpu_ns();
        producer->start_ns = clock_wall_ns();
        for (uint64_t tried = 0; tried < volume; turns++) {
                if (turns % CLOCK_EVERY == 0 && turns && clock_wall_ns() > bench.deadline_ns)
                        break;
                if (settings->think_ns)
                        work_ns(settings->think_ns);
                int result = fanin_submit_as(bench.handle, index, NULL, 0, called_back,
                        request_name(producer->number, accepted));
                if (result == FANIN_OK) {
                        accepted++;
                        tried++;
                } else if (result == FANIN_FULL) {
                        refused++;
                        tried += settings->drop_on_full;
                        queue_relax();
                        sched_yield();
                } else {
                        producer->fault = result;
                        break;
                }
        }
        producer->end_ns = clock_wall_ns();
        producer->cpu_ns = clock_thread_cpu_ns() - cpu_ns;
        producer->accepted = accepted;
        producer->refused = refused;
        fanin_flush(bench.handle); /* outside the phase: what `private` kept */
}

static void *producer_main(void *argument)
{
        struct producer *producer = argument;
        unsigned index = fanin_producer(), round = 0;
        if (bench.settings->cpu_count)
                producer->pinned = pin_to(
                        bench.settings->cpus[(producer->number + 1) % bench.settings->cpu_count]);
        pthread_mutex_lock(&bench.lock);
        for (;;) {
                if (!--bench.running)
                        pthread_cond_signal(&bench.finished);
                while (bench.round == round && !bench.over)
                        pthread_cond_wait(&bench.opened, &bench.lock);
                if (bench.over)
                        break;
                round = bench.round;
                pthread_mutex_unlock(&bench.lock);
                submit_round(producer, index);
                pthread_mutex_lock(&bench.lock);
        }
        pthread_mutex_unlock(&bench.lock);
        return NULL;
}

static void end_producers(unsigned started)
{
        pthread_mutex_lock(&bench.lock);
        bench.over = true;
        pthread_cond_broadcast(&bench.opened);
        pthread_mutex_unlock(&bench.lock);
        for (unsigned i = 0; i < started; i++)
                pthread_join(bench.producers[i].thread, NULL);
}

static int start_thread(struct producer *producer, const pthread_attr_t *attributes)
{
        int error = EAGAIN;
        for (int i = 0; i < THREAD_TRIES && error == EAGAIN; i++) {
                if (i)
                        usleep(10000);
                error = pthread_create(&producer->thread, attributes, producer_main, producer);
        }
        return error;
}

/* Waits until no producer runs, a millisecond at a time; samples the backlog meanwhile. */
static void await_producers(uint64_t *backlog_peak)
{
        pthread_mutex_lock(&bench.lock);
        while (bench.running) {
                struct timespec until;
                clock_gettime(CLOCK_MONOTONIC, &until);
                until.tv_nsec += 1000000;
                until.tv_sec += until.tv_nsec / 1000000000;
                until.tv_nsec %= 1000000000;
                pthread_cond_timedwait(&bench.finished, &bench.lock, &until);
                pthread_mutex_unlock(&bench.lock);
                struct fanin_stats stats;
                if (bench.handle && !fanin_stats(bench.handle, &stats)) {
                        uint64_t done = stats.completed + stats.cancelled;
                        uint64_t backlog = stats.submits > done ? stats.submits - done : 0;
                        *backlog_peak = backlog > *backlog_peak ? backlog : *backlog_peak;
                }
                pthread_mutex_lock(&bench.lock);
        }
        pthread_mutex_unlock(&bench.lock);
}

/* False: the reason is in row; those started are joined. */
static bool start_producers(struct row *row)
{
        pthread_attr_t attributes;
        pthread_condattr_t clock;
        pthread_condattr_init(&clock);
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        pthread_cond_init(&bench.finished, &clock);
        pthread_condattr_destroy(&clock);
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        bench.running = bench.producer_count;
        unsigned started = 0;
        int error = 0;
        for (; started < bench.producer_count && !error; started += !error) {
                bench.producers[started].number = started;
                error = start_thread(&bench.producers[started], &attributes);
        }
        pthread_attr_destroy(&attributes);
        uint64_t unused = 0;
        if (!error) {
                await_producers(&unused);
                return true;
        }
        snprintf(row->reason, sizeof row->reason,
                "thread %u of --producers %u could not be started: %s (see `ulimit -u` and the "
                "cgroup's pids.max)",
                started + 1, bench.producer_count, strerror(error));
        end_producers(started);
        return false;
}

static bool open_context(struct row *row, uint64_t volume)
{
        bench.per_producer = volume;
        atomic_store_explicit(&bench.called_back, 0, memory_order_relaxed);
        bench.cancelled = 0;
        char config[SPEC_BYTES], why[192];
        spec_print(bench.spec, config, sizeof config);
        struct fanin_options options = {
                .config = config,
                .producers = bench.producer_count,
                .backlog = volume * bench.producer_count,
                .poll_ms = (int)bench.settings->poll_ms,
                .handler = bench.settings->handler_ns ? handle_request : NULL,
        };
        if (bench.settings->check && !check_create(&bench.check, bench.producer_count, volume)) {
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

/* True when accepted callbacks are in; false when PATIENCE_MS went by without one. */
static bool await_callbacks(uint64_t accepted)
{
        uint64_t seen = callbacks(), since_ns = clock_wall_ns();
        uint64_t patience_ns = UINT64_C(1000000) * PATIENCE_MS + 4 * bench.settings->handler_ns +
                               UINT64_C(4000000) * bench.settings->poll_ms;
        while (seen < accepted) {
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

/* One round. False: not every accepted request was called back in time. */
static bool run_round(struct totals *totals, uint64_t *phase_ns)
{
        uint64_t before = callbacks();
        pthread_mutex_lock(&bench.lock);
        bench.running = bench.producer_count;
        bench.round++;
        pthread_cond_broadcast(&bench.opened);
        pthread_mutex_unlock(&bench.lock);
        await_producers(&totals->backlog_peak);

        uint64_t first_ns = UINT64_MAX, last_ns = 0, accepted = 0;
        for (unsigned i = 0; i < bench.producer_count; i++) {
                struct producer *p = &bench.producers[i];
                first_ns = p->start_ns < first_ns ? p->start_ns : first_ns;
                last_ns = p->end_ns > last_ns ? p->end_ns : last_ns;
                accepted += p->accepted;
                totals->refused += p->refused;
                totals->cpu_ns += p->cpu_ns;
                totals->active_ns += p->end_ns - p->start_ns;
                p->active_ns += p->end_ns - p->start_ns;
                p->total_accepted += p->accepted;
        }
        *phase_ns = last_ns - first_ns;
        totals->rounds++;
        totals->submits += accepted;
        totals->submit_ns += *phase_ns;
        if (!await_callbacks(before + accepted))
                return false;
        uint64_t complete_ns = bench.last_callback_ns;
        totals->complete_ns += (complete_ns > last_ns ? complete_ns : last_ns) - first_ns;
        return true;
}

/* The check's verdict on the round that just ended. The FFI thread is idle: all callbacks are in.
 */
static void check_round(struct totals *totals)
{
        if (!bench.settings->check)
                return;
        uint64_t *accepted = must_allocate(bench.producer_count * sizeof *accepted);
        for (unsigned i = 0; i < bench.producer_count; i++)
                accepted[i] = bench.producers[i].accepted;
        totals->lost += check_round_ends(&bench.check, accepted);
        free(accepted);
}

static bool any_fault(struct row *row)
{
        for (unsigned i = 0; i < bench.producer_count; i++)
                if (bench.producers[i].fault) {
                        snprintf(row->reason, sizeof row->reason, "submit: %s",
                                fanin_result_text(bench.producers[i].fault));
                        return true;
                }
        return false;
}

/* The volume for the next warm-up round; the same one: enough. */
static uint64_t next_volume(uint64_t volume, uint64_t phase_ns)
{
        double target_ns = bench.settings->min_time_s * 1e9;
        if ((double)phase_ns * 2 >= target_ns)
                return volume;
        double factor = target_ns / (double)(phase_ns ? phase_ns : 1);
        double next = (double)volume * (factor < 4 ? factor : 4);
        size_t request_bytes = sizeof(struct slab_request) + bench.spec->queue->cell_bytes;
        double limit = (double)bench.settings->max_backlog_bytes /
                       (double)(request_bytes * bench.producer_count);
        next = next < limit ? next : limit;
        return next > (double)volume ? (uint64_t)next : volume;
}

/*
 * Requests went missing. Destroying the context cancels what is still queued: if that brings all of
 * them, the queue had them and nobody was woken; if not, they are lost.
 */
static void find_missing(struct row *row, const struct totals *totals, uint64_t accepted)
{
        fanin_destroy(bench.handle);
        bench.handle = 0;
        uint64_t missing = accepted > callbacks() ? accepted - callbacks() : 0;
        row_set_status(row, missing ? STATUS_LOST : STATUS_LOST_WAKE);
        snprintf(row->reason, sizeof row->reason,
                "no callback for %d ms in round %" PRIu64 "; of %" PRIu64 " missing, %" PRIu64
                " came when the context was destroyed",
                PATIENCE_MS, totals->rounds, missing + bench.cancelled, bench.cancelled);
}

static uint64_t accepted_in_context; /* all rounds of the open context */

/* One round and its check. False: the row has its status already. */
static bool checked_round(struct row *row, struct totals *totals, uint64_t *phase_ns)
{
        uint64_t before = totals->submits;
        bool whole = run_round(totals, phase_ns);
        accepted_in_context += totals->submits - before;
        if (any_fault(row)) {
                row_set_status(row, STATUS_REFUSED);
                return false;
        }
        if (!whole) {
                find_missing(row, totals, accepted_in_context);
                return false;
        }
        check_round(totals);
        return true;
}

/* Leaves a warm context of the right volume open. False: the row has its status. */
static bool warm_up(struct row *row, struct totals *warm)
{
        const struct settings *settings = bench.settings;
        uint64_t volume = settings->per_producer ? settings->per_producer : LEAST_VOLUME;
        uint64_t end_ns = clock_wall_ns() + (uint64_t)(settings->max_sample_s * 1e9);
        for (;;) {
                uint64_t phase_ns;
                accepted_in_context = 0;
                if (!open_context(row, volume)) {
                        row_set_status(row, STATUS_REFUSED);
                        return false;
                }
                bench.deadline_ns = end_ns;
                if (!checked_round(row, warm, &phase_ns))
                        return false;
                uint64_t next = next_volume(volume, phase_ns);
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
static double fairness(void)
{
        double sum = 0, squares = 0;
        for (unsigned i = 0; i < bench.producer_count; i++) {
                struct producer *p = &bench.producers[i];
                double rate = p->active_ns ? (double)p->total_accepted / (double)p->active_ns : 0;
                sum += rate;
                squares += rate * rate;
        }
        return squares > 0 ? sum * sum / (bench.producer_count * squares) : 0;
}

static void fill_row(struct row *row, const struct totals *totals)
{
        row->rounds = totals->rounds;
        row->per_producer = bench.per_producer;
        row->submits = totals->submits;
        row->refused = totals->refused;
        row->submit_ns = totals->submit_ns;
        row->complete_ns = totals->complete_ns;
        row->submit_per_s = (double)totals->submits * 1e9 / (double)totals->submit_ns;
        row->complete_per_s = (double)totals->submits * 1e9 / (double)totals->complete_ns;
        row->producer_cpu_ns = totals->cpu_ns;
        row->overlap = (double)totals->active_ns /
                       ((double)bench.producer_count * (double)totals->submit_ns);
        row->backlog_peak = totals->backlog_peak;
        row->fairness_jain = fairness();
}

/* The accounting of fanin.h, asserted at the end of every sample: all is idle here. */
static bool accounts_balance(const struct fanin_stats *stats)
{
        return stats->submits == stats->completed + stats->cancelled &&
               stats->wakes + stats->wakes_elided ==
                       stats->submits - stats->kept + stats->flushes &&
               stats->submits == accepted_in_context && stats->submits == callbacks();
}

static void judge(struct row *row, const struct totals *warm, const struct totals *totals,
        const struct fanin_stats *stats)
{
        uint64_t lost = warm->lost + totals->lost;
        bool ordered = bench.spec->queue->traits & QUEUE_FIFO_PRODUCER;
        enum row_status status = lost                                           ? STATUS_LOST
                                 : bench.settings->check && bench.check.doubled ? STATUS_DOUBLED
                                 : bench.settings->check && ordered && bench.check.disordered
                                         ? STATUS_DISORDERED
                                 : stats->lost_wakes ? STATUS_LOST_WAKE
                                                     : STATUS_OK;
        row_set_status(row, status);
        if (status != STATUS_OK)
                snprintf(row->reason, sizeof row->reason,
                        "%" PRIu64 " lost, %" PRIu64 " doubled, %" PRIu64 " out of order, %" PRIu64
                        " wakes lost",
                        lost, bench.check.doubled, bench.check.disordered, stats->lost_wakes);
        else if (!accounts_balance(stats)) {
                /* More callbacks than submits, say, with --check off. */
                row_set_status(row, STATUS_DOUBLED);
                snprintf(row->reason, sizeof row->reason,
                        "the accounts don't balance: %" PRIu64 " accepted, %" PRIu64 " called back",
                        accepted_in_context, callbacks());
        }
}

static void measure(struct row *row)
{
        struct totals warm = {0}, totals = {0};
        struct fanin_stats before, after;
        if (!warm_up(row, &warm))
                return;
        for (unsigned i = 0; i < bench.producer_count; i++)
                bench.producers[i].active_ns = bench.producers[i].total_accepted = 0;
        fanin_stats(bench.handle, &before);
        uint64_t min_ns = (uint64_t)(bench.settings->min_time_s * 1e9), phase_ns;
        bench.deadline_ns = clock_wall_ns() + (uint64_t)(bench.settings->max_sample_s * 1e9);
        do
                if (!checked_round(row, &totals, &phase_ns))
                        return;
        while (totals.submit_ns < min_ns && clock_wall_ns() < bench.deadline_ns);
        fanin_stats(bench.handle, &after);
        subtract_stats(row, &before, &after);
        fill_row(row, &totals);
        judge(row, &warm, &totals, &after);
        close_context();
}

static const char *pinned(void)
{
        for (unsigned i = 0; i < bench.producer_count; i++)
                if (!bench.producers[i].pinned)
                        return "no";
        return "yes";
}

int sample_main(const struct settings *settings)
{
        struct row row = {.measured = false};
        if (settings->config_count != 1 || settings->producers_count != 1)
                die("`fanin sample` takes one configuration and one producer count");
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the sweep's end is ours */
        bench.settings = settings;
        bench.spec = settings->configs;
        bench.producer_count = settings->producers[0];
        size_t bytes = bench.producer_count * sizeof *bench.producers;
        bench.producers = aligned_alloc(QUEUE_LINE, bytes);
        if (!bench.producers)
                die("no memory for %u producers", bench.producer_count);
        memset(bench.producers, 0, bytes);
        work_calibrate();

        row_set_status(&row, STATUS_REFUSED);
        if (start_producers(&row)) {
                if (settings->cpu_count)
                        pin_to(settings->cpus[0]); /* inherited by the FFI thread */
                measure(&row);
                end_producers(bench.producer_count);
        }
        row_set_text(row.pinned, sizeof row.pinned, settings->cpu_count ? pinned() : "none");
        free(bench.producers);
        return row_send(stdout, &row) ? EXIT_DONE : EXIT_FAILED;
}
