/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What progress a push makes while others overtake it. One thread is everybody: the victim, index
 * 0, pushes, and at each queue_step that it meets (the backends have one before every
 * compare-and-swap that may fail), a whole push of another producer goes by, or a drain, or both.
 * So the victim loses every race there is. A wait-free push ends all the same, in a bounded number
 * of steps; a lock-free one may lose for ever, but then the others must get through.
 */
#include <stdlib.h>

#include "alone.h"
#include "report.h"

#ifdef QUEUE_STEP

enum {
        PUSHES = 20, /* the victim's, in each mode */
        /* What a wait-free push may take: the bound may grow with the producers, not with what they
         * do. */
        STEPS_BOUND = 100,
        STEPS_PER_PRODUCER = 4,
        OVERTAKEN_MAX = 600, /* then nobody interferes any more, so that the push ends */
};

enum mode { PUSH_AND_DRAIN, PUSH_ONLY, DRAIN_ONLY, MODES };

struct race {
        struct subject subject;
        enum mode mode;
        unsigned steps; /* of the victim's push at hand */
        unsigned overtaker;
};

static struct race *racing; /* NULL: what overtakes is not overtaken */

static bool push_and_flush(struct subject *subject, unsigned producer)
{
        struct request *request = subject_request(subject, producer);
        queue_guard_enter(&subject->guards[producer]);
        enum queue_pushed pushed = subject_push(subject, producer, request);
        struct race *stopped = racing;
        racing = NULL; /* progress is claimed of the push, not of the flush */
        if (pushed == QUEUE_KEPT)
                subject_flush(subject, producer);
        racing = stopped;
        queue_guard_leave(&subject->guards[producer]);
        if (pushed == QUEUE_FULL)
                free(request);
        return pushed != QUEUE_FULL;
}

static void drain_some(struct subject *subject, unsigned max)
{
        unsigned visible = subject_visible(subject);
        struct queue_drained drained = subject_drain(subject, max);
        if (drained.left == QUEUE_EMPTY && subject->handed < visible)
                report_failure("a push has stopped at its queue_step number %u, %u pushes that "
                               "returned are hidden, and drain says EMPTY, not STALLED",
                        racing ? racing->steps : 0, visible - subject->handed);
}

static void overtake(void)
{
        struct race *race = racing;
        if (!race || ++race->steps > OVERTAKEN_MAX)
                return;
        racing = NULL;
        unsigned others = race->subject.producers - 1;
        if (race->mode != DRAIN_ONLY && others) {
                report_hangs_as("claims progress, but a push waits for another one that is stopped "
                                "at its queue_step");
                push_and_flush(&race->subject, 1 + race->overtaker++ % others);
        }
        if (race->mode != PUSH_ONLY) {
                report_hangs_as("drain waits for a push that is stopped at its queue_step, where "
                                "it should say STALLED");
                drain_some(&race->subject, 1 + race->steps % 3);
        }
        report_hangs_as("its push does not end, though nobody overtakes it any more");
        racing = race;
}

static void be_overtaken(struct race *race)
{
        struct subject *subject = &race->subject;
        const unsigned bound = STEPS_BOUND + STEPS_PER_PRODUCER * subject->producers;
        for (unsigned i = 0; i < PUSHES && !report_failed(); i++) {
                race->steps = 0;
                racing = race;
                bool pushed = push_and_flush(subject, 0);
                racing = NULL;
                if (subject->traits & QUEUE_WAIT_FREE && race->steps > bound)
                        report_failure("claims wait-free, but its push took %u steps while others "
                                       "overtook it; its own steps must be bounded (by %u here)",
                                race->steps, bound);
                /* Into an empty queue, and behind others. */
                if (i % 2 || !pushed)
                        subject_drain_rest(subject, 7);
        }
        subject_drain_rest(subject, 7);
}

void check_overtaken(const struct check_case *is)
{
        /* Between two times that everything is drained. */
        const unsigned outstanding = 2 * (OVERTAKEN_MAX + 1);
        const unsigned others = is->producers > 1 ? is->producers - 1 : 1;
        struct race race = {.mode = PUSH_AND_DRAIN};
        /* What is handed back while its push is under way must not be touched by it any more. */
        if (is->ops->settle || !alone_open(&race.subject, is,
                                       (struct subject_plan){.quota = MODES * PUSHES *
                                                                      (OVERTAKEN_MAX / others + 2),
                                               .backlog = (size_t)outstanding * is->producers,
                                               .fate = REPORT_ASAN ? SUBJECT_FREE : SUBJECT_KEEP}))
                return;
        queue_step_hook = overtake;
        /* Claimed by the table; create may have cleared it. */
        if (race.subject.traits & (QUEUE_WAIT_FREE | QUEUE_LOCK_FREE))
                for (; race.mode < MODES && !report_failed(); race.mode++)
                        be_overtaken(&race);
        queue_step_hook = NULL;
        subject_close(&race.subject);
}

#else

void check_overtaken(const struct check_case *is)
{
        (void)is;
}

#endif
