/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What can be seen without a second thread, and then for certain: one thread pushes under all
 * indices in turn and drains. A queue with settle takes one request at a time, since settle waits
 * for drain.
 */
#include <stdlib.h>
#include <string.h>

#include "alone.h"
#include "report.h"

enum { BURST = 600, FULL_WITHIN = 1 << 19 };

bool alone_open(struct subject *subject, const struct check_case *is, struct subject_plan plan)
{
        plan.ops = is->ops;
        plan.values = is->values;
        plan.producers = is->producers;
        if (!subject_open(subject, &plan))
                return false;
        for (unsigned i = 0; i < is->producers; i++)
                if (!subject_attach(subject, i))
                        return false;
        return true;
}

/* Two requests' bytes, padding and all: the queue may have written any. */
static bool same(const void *one, const void *other)
{
        return memcmp(one, other, sizeof(struct request)) == 0;
}

static unsigned at_once(const struct subject *subject, unsigned count)
{
        return subject->ops->settle ? 1 : count;
}

enum queue_pushed alone_push(struct subject *subject, unsigned producer, struct request *request)
{
        queue_guard_enter(&subject->guards[producer]);
        enum queue_pushed pushed = subject_push(subject, producer, request);
        queue_guard_leave(&subject->guards[producer]);
        return pushed;
}

void alone_flush(struct subject *subject)
{
        for (unsigned i = 0; i < subject->producers; i++) {
                if (!subject->lanes[i].attached)
                        continue;
                queue_guard_enter(&subject->guards[i]);
                subject_flush(subject, i);
                queue_guard_leave(&subject->guards[i]);
        }
}

/* One request under each of count random indices; ids, if given, says which. A bounded queue may
 * take fewer; the number taken. */
static unsigned push_some(struct subject *subject, unsigned count, uint32_t *random, unsigned *ids)
{
        for (unsigned i = 0; i < count; i++) {
                unsigned producer = check_random(random) % subject->producers;
                struct request *request = subject_request(subject, producer);
                if (ids)
                        ids[i] = producer * subject->quota + request->sequence;
                if (alone_push(subject, producer, request) == QUEUE_FULL) {
                        free(request);
                        return i;
                }
        }
        return count;
}

/* The last request's producer gets its acceptance. */
static void settle_last(struct subject *subject)
{
        if (subject->ops->settle && subject->handed)
                subject_settle(subject, subject->log[subject->handed - 1] / subject->quota);
}

void alone_check_order(
        const struct subject *subject, unsigned before, const unsigned *ids, unsigned count)
{
        for (unsigned i = 0; i < count && subject->traits & QUEUE_FIFO_GLOBAL; i++)
                if (!report_failed() && subject->log[before + i] != ids[i])
                        report_failure("claims FIFO_GLOBAL, but is not global FIFO: one thread "
                                       "pushed under many indices, and out came, as the %u-th of "
                                       "%u, producer %u's request %u, where producer %u's %u was "
                                       "next",
                                i + 1, count, subject->log[before + i] / subject->quota,
                                subject->log[before + i] % subject->quota, ids[i] / subject->quota,
                                ids[i] % subject->quota);
}

void check_order(const struct check_case *is)
{
        enum { ROUNDS = 4 };
        struct subject subject;
        uint32_t random = is->producers;
        unsigned ids[BURST];
        if (!alone_open(&subject, is,
                    (struct subject_plan){
                            .quota = ROUNDS * BURST, .backlog = BURST, .fate = SUBJECT_KEEP}))
                return;
        for (unsigned round = 0; round < ROUNDS; round++) {
                unsigned before = subject.handed;
                unsigned count = push_some(&subject, at_once(&subject, BURST), &random, ids);
                alone_flush(&subject);
                subject_drain_rest(&subject, 64);
                settle_last(&subject);
                alone_check_order(&subject, before, ids, count);
        }
        subject_close(&subject);
}

void check_drain(const struct check_case *is)
{
        static const unsigned grants[] = {1, 7, SUBJECT_BATCH_MAX};
        enum { GRANTS = sizeof grants / sizeof *grants };
        struct subject subject;
        uint32_t random = is->producers;
        if (!alone_open(&subject, is,
                    (struct subject_plan){.quota = 2 * GRANTS * BURST, .backlog = 2 * BURST}))
                return;
        subject_drain_rest(&subject, 1);
        for (unsigned i = 0; i < GRANTS && !report_failed(); i++) {
                push_some(&subject, at_once(&subject, BURST), &random, NULL);
                alone_flush(&subject);
                if (subject_drain(&subject, 0).left == QUEUE_EMPTY)
                        report_failure("drain with a max of 0 says EMPTY with %u requests left",
                                subject_visible(&subject) - subject.handed);
                struct queue_drained drained = subject_drain(&subject, grants[i]);
                if (drained.left == QUEUE_EMPTY && subject.handed < subject_visible(&subject))
                        report_failure("drain with a max of %u says EMPTY with %u requests left",
                                grants[i], subject_visible(&subject) - subject.handed);
                /* Between what it took and what it has handed out, more comes. */
                if (!subject.ops->settle)
                        push_some(&subject, BURST / 2, &random, NULL);
                alone_flush(&subject);
                subject_drain_rest(&subject, grants[i]);
                settle_last(&subject);
                subject_drain_rest(&subject, grants[i]);
        }
        subject_close(&subject);
}

/* Pushes under the indices in turn until FULL; the producer that met it. */
static unsigned fill(struct subject *subject)
{
        for (unsigned i = 0;; i++) {
                unsigned producer = i % subject->producers;
                struct request *request = subject_request(subject, producer), copy;
                memcpy(&copy, request, sizeof copy);
                if (alone_push(subject, producer, request) != QUEUE_FULL) {
                        if (i + 1 < FULL_WITHIN && !report_failed())
                                continue;
                        report_failure("never FULL in %d pushes, though BOUNDED", FULL_WITHIN);
                        return producer;
                }
                if (!same(&copy, request))
                        report_failure("push returned FULL and changed the request");
                free(request);
                return producer;
        }
}

void check_full(const struct check_case *is)
{
        enum { ROUNDS = 2 }; /* the second goes around the ring's end */
        struct subject subject;
        unsigned quota = (ROUNDS * FULL_WITHIN + ROUNDS) / is->producers + 2;
        if (!alone_open(&subject, is, (struct subject_plan){.quota = quota}))
                return;
        for (unsigned round = 0;
                round < ROUNDS && subject.traits & QUEUE_BOUNDED && !report_failed(); round++) {
                unsigned producer = fill(&subject);
                alone_flush(&subject);
                for (bool room = false; !room && !report_failed();) {
                        /* One drained is room, or at the latest all. */
                        struct queue_drained drained = subject_drain(&subject, 1);
                        struct request *request = subject_request(&subject, producer);
                        room = alone_push(&subject, producer, request) != QUEUE_FULL;
                        if (!room)
                                free(request);
                        if (!room && drained.left == QUEUE_EMPTY)
                                report_failure(
                                        "push returned FULL, though drain had just said EMPTY");
                }
                alone_flush(&subject);
                subject_drain_rest(&subject, 7);
        }
        subject_close(&subject);
}

void check_kept(const struct check_case *is)
{
        enum { ROUNDS = 3 };
        struct subject subject;
        uint32_t random = is->producers;
        if (!alone_open(
                    &subject, is, (struct subject_plan){.quota = ROUNDS * BURST, .backlog = BURST}))
                return;
        for (unsigned round = 0; round < ROUNDS && !report_failed(); round++) {
                push_some(&subject, BURST, &random, NULL);
                subject_drain_rest(&subject, 7);
                if (subject.handed > subject_visible(&subject))
                        report_failure("a KEPT request came out before its flush");
                for (unsigned i = 0; i < is->producers; i++) {
                        bool kept = subject.lanes[i].kept;
                        queue_guard_enter(&subject.guards[i]);
                        bool wake = subject_flush(&subject, i);
                        queue_guard_leave(&subject.guards[i]);
                        if (kept && !wake)
                                report_failure(
                                        "flush into an EMPTY queue says that no wake is owed");
                        subject_drain_rest(&subject, 7);
                }
        }
        subject_close(&subject);
}

/* The requests still queued are gone before the queue is: poisoned, and for a sanitizer's eyes half
 * of them freed. */
void check_destroy(const struct check_case *is)
{
        struct subject subject;
        uint32_t random = is->producers;
        struct request *queued[BURST], poison;
        unsigned count = 0;
        memset(&poison, SUBJECT_POISON, sizeof poison);
        const struct subject_plan plan = {.ops = is->ops,
                .values = is->values,
                .producers = is->producers,
                .quota = BURST,
                .backlog = BURST,
                .fate = SUBJECT_KEEP};
        if (!subject_open(&subject, &plan)) /* and nobody attaches */
                return;
        subject_close(&subject);
        /* What settles leaves nothing queued: a request is accepted before its submit returns. */
        if (is->ops->settle || !subject_open(&subject, &plan))
                return;
        unsigned attached = 0;
        do
                subject_attach(&subject, attached);
        while (++attached * 2 < is->producers); /* the others never do */
        while (count < BURST && !report_failed()) {
                unsigned producer = check_random(&random) % attached;
                queued[count] = subject_request(&subject, producer);
                if (alone_push(&subject, producer, queued[count]) == QUEUE_FULL) {
                        free(queued[count]);
                        break;
                }
                if (++count == BURST / 2) {
                        alone_flush(&subject);
                        subject_drain(&subject, 7); /* it may have taken more than it hands out */
                }
        }
        for (unsigned i = 0; i < attached; i++)
                subject_detach(&subject, i);
        for (unsigned i = 0; i < count; i++) {
                if (same(queued[i], &poison))
                        queued[i] = NULL; /* handed back: the account has it */
                else
                        memset(queued[i], SUBJECT_POISON, sizeof poison);
                if (i % 2 && REPORT_SANITIZED) {
                        free(queued[i]);
                        queued[i] = NULL;
                }
        }
        subject.ops->destroy(subject.queue);
        for (unsigned i = 0; i < count; i++) {
                if (queued[i] && !same(queued[i], &poison))
                        report_failure("destroy touched a request still queued");
                free(queued[i]);
        }
        subject_forget(&subject);
}
