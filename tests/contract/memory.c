/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What pushes allocate. Held against the table's cell_bytes, with slack for what grows by doubling
 * or by the segment; and nothing at all when the queue was told to preallocate, and for how much.
 */
#include <stdlib.h>

#include "alone.h"
#include "report.h"

#if REPORT_SANITIZED
size_t __sanitizer_get_current_allocated_bytes(void); /* gcc has no header for it */
#elif defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
#include <malloc.h>
#define HAVE_MALLINFO2
#endif
#endif

enum {
        COUNT = 4096,      /* requests at least, without a drain */
        EACH_MIN = 64,     /* of them, under each index */
        WARM = 64,         /* pushes that don't count, where nothing may be allocated for long */
        ROUNDS = 3,        /* with preallocation: cells come back in time */
        INTRUSIVE = 8192,  /* bytes that COUNT pushes may take all the same if cell_bytes is 0 */
        SLACK = 128 << 10, /* a segment, a table */
        SLACK_PER_PRODUCER = 16 << 10,
        SLACK_PER_REQUEST = 16, /* malloc's own, for who allocates each cell */
};

/* What the allocator has given out; false: it doesn't tell. */
static bool allocated(size_t *bytes)
{
#if REPORT_SANITIZED
        *bytes = __sanitizer_get_current_allocated_bytes();
        return true;
#elif defined(HAVE_MALLINFO2)
        struct mallinfo2 info = mallinfo2();
        *bytes = info.uordblks + info.hblkhd;
        return true;
#else
        (void)bytes;
        return false;
#endif
}

struct round {
        unsigned pushes;  /* that the queue took */
        size_t allocated; /* bytes, by these pushes */
};

/* Pushes under the indices in turn. The requests exist beforehand, and are kept when handed back.
 */
static struct round push_round(struct subject *subject, unsigned count)
{
        struct request **requests = malloc(count * sizeof *requests);
        if (!requests)
                abort();
        for (unsigned i = 0; i < count; i++)
                requests[i] = malloc(sizeof **requests);
        struct round round = {0, 0};
        size_t before = 0, after = 0;
        bool full = false;
        allocated(&before);
        for (unsigned i = 0; i < count && !full; i++) {
                unsigned producer = i % subject->producers;
                atomic_store(&subject->lanes[producer].spare, requests[i]);
                full = alone_push(subject, producer, subject_request(subject, producer)) ==
                       QUEUE_FULL;
                round.pushes += !full;
        }
        allocated(&after);
        for (unsigned i = round.pushes; i < count; i++)
                free(requests[i]);
        free(requests);
        round.allocated = after > before ? after - before : 0;
        return round;
}

static void look_at_growth(const struct check_case *is, unsigned count)
{
        struct subject subject;
        const unsigned warm = WARM + is->producers;
        if (!alone_open(&subject, is,
                    (struct subject_plan){.quota = warm + count,
                            .backlog = warm + count,
                            .fate = SUBJECT_KEEP,
                            .memory = SUBJECT_GROWS}))
                return;
        push_round(&subject, warm);
        struct round round = push_round(&subject, count);
        size_t cell_bytes = is->ops->cell_bytes;
        size_t allowed = (size_t)round.pushes * (2 * cell_bytes + SLACK_PER_REQUEST) + SLACK +
                         (size_t)is->producers * SLACK_PER_PRODUCER;
        if (!cell_bytes)
                allowed = INTRUSIVE;
        if (round.allocated > allowed)
                report_failure("cell_bytes is %zu, yet %u pushes allocated %zu bytes, where %zu "
                               "are allowed",
                        cell_bytes, round.pushes, round.allocated, allowed);
        alone_flush(&subject);
        subject_drain_rest(&subject, 64);
        subject_close(&subject);
}

static void look_at_preallocation(const struct check_case *is, unsigned count)
{
        struct subject subject;
        if (!alone_open(&subject, is,
                    (struct subject_plan){.quota = ROUNDS * count,
                            .backlog = count,
                            .fate = SUBJECT_KEEP,
                            .memory = SUBJECT_PREALLOCATES}))
                return;
        for (unsigned i = 0; i < ROUNDS && !report_failed(); i++) {
                struct round round = push_round(&subject, count);
                if (round.allocated && !(subject.traits & QUEUE_ALLOCATES))
                        report_failure("told to preallocate for %u requests, yet its pushes "
                                       "allocated %zu bytes with no more than that outstanding "
                                       "(round %u of %d); a queue that can't help it says "
                                       "QUEUE_ALLOCATES",
                                count, round.allocated, i + 1, ROUNDS);
                alone_flush(&subject);
                subject_drain_rest(&subject, 64);
        }
        subject_close(&subject);
}

void check_cells(const struct check_case *is)
{
        size_t bytes;
        unsigned each = COUNT / is->producers > EACH_MIN ? COUNT / is->producers : EACH_MIN;
        if (is->ops->settle || !allocated(&bytes))
                return;
        /* In this order: a library's pool, once grown, would hide that it grows. */
        look_at_preallocation(is, each * is->producers);
        if (!report_failed())
                look_at_growth(is, each * is->producers);
}
