/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The account of a queue under test. */
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { IDLE_DRAINS_MAX = 1000, NAME_BYTES = 32 };

static uint64_t seal_of(unsigned producer, unsigned sequence)
{
        return ((uint64_t)producer << 32 | sequence) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static void *lines(size_t bytes)
{
        bytes = (bytes + QUEUE_LINE - 1) / QUEUE_LINE * QUEUE_LINE;
        void *memory = aligned_alloc(QUEUE_LINE, bytes);
        if (!memory)
                abort();
        return memset(memory, 0, bytes);
}

static void *zeroed(size_t count, size_t bytes)
{
        void *memory = calloc(count, bytes);
        if (!memory)
                abort();
        return memory;
}

static int create(struct subject *subject, const struct subject_plan *plan)
{
        struct queue_config config = {
                .producers = plan->producers,
                .backlog = plan->backlog,
                .preallocate = plan->memory == SUBJECT_EITHER
                                       ? plan->producers % 2
                                       : plan->memory == SUBJECT_PREALLOCATES,
                .guards = subject->guards,
        };
        memcpy(config.values, plan->values, sizeof config.values);
        return plan->ops->create(&subject->queue, &config);
}

static void release(struct subject *subject)
{
        free(subject->graveyard);
        free(subject->log);
        free(subject->seen);
        free(subject->lanes);
        free(subject->guards);
}

bool subject_open(struct subject *subject, const struct subject_plan *plan)
{
        size_t total = (size_t)plan->producers * plan->quota;
        *subject = (struct subject){
                .ops = plan->ops,
                .producers = plan->producers,
                .quota = plan->quota,
                .fate = plan->fate,
                .guards = lines(plan->producers * sizeof(struct queue_guard)),
                .lanes = lines(plan->producers * sizeof(struct subject_lane)),
                .seen = zeroed(total / 8 + 1, 1),
                .log = zeroed(total + 1, sizeof(unsigned)),
                .graveyard = zeroed(total + 1, sizeof(struct request *)),
        };
        int error = create(subject, plan);
        if (error) {
                report_failure("create refused what the table's keys allow: %s", strerror(-error));
                release(subject);
                return false;
        }
        subject->traits = subject->queue->traits;
        if (subject->traits & ~plan->ops->traits)
                report_failure("create added traits that the table does not have: 0x%x",
                        subject->traits & ~plan->ops->traits);
        const char *instead = subject->queue->instead;
        char name[NAME_BYTES] = "";
        if (instead && (sscanf(instead, "%31[^:]", name) != 1 || !registry_find(name)))
                report_failure("says that \"%s\" runs instead, which names no backend", instead);
        return true;
}

bool subject_attach(struct subject *subject, unsigned producer)
{
        int error = subject->ops->attach ? subject->ops->attach(subject->queue, producer) : 0;
        if (error)
                report_failure("attach of producer %u refused: %s", producer, strerror(-error));
        subject->lanes[producer].attached = !error;
        return !error;
}

void subject_detach(struct subject *subject, unsigned producer)
{
        if (subject->lanes[producer].attached && subject->ops->detach)
                subject->ops->detach(subject->queue, producer);
        subject->lanes[producer].attached = false;
}

struct request *subject_request(struct subject *subject, unsigned producer)
{
        struct subject_lane *lane = &subject->lanes[producer];
        /* Acquire, with the release in dispose: the consumer has done with it. */
        struct request *request =
                atomic_exchange_explicit(&lane->spare, NULL, memory_order_acquire);
        if (!request)
                request = malloc(sizeof *request);
        if (!request)
                abort();
        request->producer = producer;
        request->sequence = lane->pushed;
        request->seal = seal_of(producer, lane->pushed);
        return request;
}

enum queue_pushed subject_push(struct subject *subject, unsigned producer, struct request *request)
{
        struct subject_lane *lane = &subject->lanes[producer];
        enum queue_pushed pushed = subject->ops->push(subject->queue, producer, &request->node);
        switch (pushed) {
        case QUEUE_FULL:
                lane->full++;
                if (!(subject->traits & QUEUE_BOUNDED))
                        report_failure("push returned FULL, but the queue does not claim BOUNDED");
                return pushed;
        case QUEUE_KEPT:
                lane->kept++;
                if (!subject->ops->flush)
                        report_failure("push returned KEPT, but the queue has no flush");
                break;
        case QUEUE_PUSHED:
        case QUEUE_PUSHED_FIRST:
                /* Release, with the acquire in subject_visible: drain must find it now. */
                atomic_fetch_add_explicit(&lane->visible, 1, memory_order_release);
                break;
        default:
                report_failure("push returned %d, which is no enum queue_pushed", (int)pushed);
        }
        lane->pushed++;
        return pushed;
}

void subject_settle(struct subject *subject, unsigned producer)
{
        if (subject->ops->settle)
                subject->ops->settle(subject->queue, producer);
}

bool subject_flush(struct subject *subject, unsigned producer)
{
        struct subject_lane *lane = &subject->lanes[producer];
        if (!subject->ops->flush)
                return false;
        bool wake = subject->ops->flush(subject->queue, producer);
        /* Release, as in subject_push. */
        atomic_fetch_add_explicit(&lane->visible, lane->kept, memory_order_release);
        lane->kept = 0;
        return wake;
}

unsigned subject_visible(const struct subject *subject)
{
        unsigned visible = 0;
        for (unsigned i = 0; i < subject->producers; i++)
                visible += atomic_load_explicit(&subject->lanes[i].visible, memory_order_acquire);
        return visible;
}

/* False: it must not be touched again. */
static bool account(struct subject *subject, struct request *request)
{
        if (!request || request->seal != seal_of(request->producer, request->sequence) ||
                request->producer >= subject->producers || request->sequence >= subject->quota) {
                struct request poison;
                memset(&poison, SUBJECT_POISON, sizeof poison);
                report_failure(
                        request && request->seal == poison.seal
                                ? "drain handed back a request that it had handed back before"
                                : "drain handed back what was never pushed");
                return false;
        }
        struct subject_lane *lane = &subject->lanes[request->producer];
        unsigned id = request->producer * subject->quota + request->sequence;
        if (subject->seen[id / 8] >> id % 8 & 1) {
                report_failure("producer %u's request %u was handed back twice", request->producer,
                        request->sequence);
                return false;
        }
        subject->seen[id / 8] |= (unsigned char)(1 << id % 8);
        if (request->sequence < lane->next && subject->traits & QUEUE_FIFO_PRODUCER)
                report_failure("claims FIFO_PRODUCER, but out of order: producer %u's request %u "
                               "came after its request %u",
                        request->producer, request->sequence, lane->next - 1);
        if (request->sequence >= lane->next)
                lane->next = request->sequence + 1;
        subject->graveyard[subject->handed] = request;
        subject->log[subject->handed++] = id;
        return true;
}

static void dispose(struct subject *subject, struct request *request)
{
        unsigned producer = request->producer, sequence = request->sequence;
        memset(request, SUBJECT_POISON, sizeof *request);
        if (subject->fate == SUBJECT_REUSE && sequence % 2) {
                /* To the next producer, so that requests wander. Release, with the acquire in
                 * subject_request; acquire, with its own release of what it replaces. */
                unsigned next = (producer + 1) % subject->producers;
                request = atomic_exchange_explicit(
                        &subject->lanes[next].spare, request, memory_order_acq_rel);
        }
        if (subject->fate != SUBJECT_KEEP)
                free(request);
        struct subject_lane *lane = &subject->lanes[producer];
        /* Release: a producer that sees its request handed back may do anything. */
        atomic_fetch_add_explicit(&lane->handed, 1, memory_order_release);
}

struct queue_drained subject_drain(struct subject *subject, unsigned max)
{
        /* A canary behind what is granted: max is exact. */
        struct queue_node *out[SUBJECT_BATCH_MAX + 1], canary;
        memset(out, 0, max * sizeof *out);
        out[max] = &canary;
        struct queue_drained drained = subject->ops->drain(subject->queue, out, max);
        if (drained.count > max || out[max] != &canary) {
                report_failure("drain handed back more than its max of %u", max);
                drained.count = drained.count < max ? drained.count : max;
        }
        if (drained.left == QUEUE_STALLED) {
                subject->stalls++;
                if (!(subject->traits & QUEUE_MAY_STALL))
                        report_failure(
                                "drain said STALLED, but the queue does not claim MAY_STALL");
        }
        /* All are looked at before the first is disposed of, so that one that comes twice in a
         * batch is found by its number, not by touching freed memory. */
        for (unsigned i = 0; i < drained.count; i++)
                if (!account(subject, (struct request *)out[i]))
                        out[i] = NULL;
        for (unsigned i = 0; i < drained.count; i++)
                if (out[i])
                        dispose(subject, (struct request *)out[i]);
        return drained;
}

void subject_drain_rest(struct subject *subject, unsigned max)
{
        unsigned visible = subject_visible(subject);
        for (unsigned idle = 0; !report_failed();) {
                struct queue_drained drained = subject_drain(subject, max);
                if (drained.left == QUEUE_STALLED)
                        report_failure("drain said STALLED, though no push is under way");
                if (drained.left == QUEUE_EMPTY) {
                        if (subject->handed < visible)
                                report_failure("drain said EMPTY with %u of %u requests not handed "
                                               "back, and "
                                               "no push under way: lost",
                                        visible - subject->handed, visible);
                        return;
                }
                idle = drained.count ? 0 : idle + 1;
                if (idle > IDLE_DRAINS_MAX)
                        report_failure("drain says MORE, %u times, and hands back nothing", idle);
        }
}

/* By request, not by a total: one lost and one doubled must not cancel out. */
static void look_for_lost(const struct subject *subject)
{
        for (unsigned producer = 0; producer < subject->producers; producer++)
                for (unsigned i = 0; i < subject->lanes[producer].pushed; i++) {
                        unsigned id = producer * subject->quota + i;
                        if (subject->seen[id / 8] >> id % 8 & 1)
                                continue;
                        report_failure("producer %u's request %u of %u was pushed and never handed "
                                       "back: lost",
                                producer, i, subject->lanes[producer].pushed);
                        return;
                }
}

static void look_for_touched(struct subject *subject)
{
        for (unsigned i = 0; i < subject->handed; i++) {
                const unsigned char *bytes = (const void *)subject->graveyard[i];
                for (unsigned j = 0; j < sizeof(struct request); j++)
                        if (bytes[j] != SUBJECT_POISON)
                                report_failure("producer %u's request %u was touched after it was "
                                               "handed back, when its owner may have freed it",
                                        subject->log[i] / subject->quota,
                                        subject->log[i] % subject->quota);
                free(subject->graveyard[i]);
        }
}

void subject_forget(struct subject *subject)
{
        if (subject->fate == SUBJECT_KEEP)
                look_for_touched(subject);
        for (unsigned i = 0; i < subject->producers; i++)
                free(atomic_load(&subject->lanes[i].spare));
        release(subject);
}

void subject_close(struct subject *subject)
{
        for (unsigned i = 0; i < subject->producers; i++)
                subject_detach(subject, i);
        if (!report_failed())
                look_for_lost(subject);
        /* A queue that broke its word is left alone: who knows what it still refers to. */
        if (!report_failed())
                subject->ops->destroy(subject->queue);
        subject_forget(subject);
}
