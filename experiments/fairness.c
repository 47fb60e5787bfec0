/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "fairness.h"

#include <math.h>
#include <stdlib.h>

#include "../queues/shards.h"

/* The list that a producer's requests go to. A queue that has no shards and keeps them all in one
 * order is one list; of any other we don't know. */
static uint64_t shard_of(unsigned index, const char *instead)
{
        const struct spec *spec = rounds.spec;
        long shards = spec_value(spec, "shards");
        if (instead)
                return ROW_NA;
        if (shards > 1)
                return spec_value(spec, "by") == QUEUE_BY_CPU ? ROW_NA : index % (uint64_t)shards;
        return shards == 1 || spec->queue->traits & QUEUE_FIFO_GLOBAL ? 0 : ROW_NA;
}

static double rate_of(const struct row_producer *producer)
{
        return producer->active_ns ? (double)producer->submits / (double)producer->active_ns : 0;
}

/* Jain's index over the producers' own rates, and the least of them over the greatest. */
static void fill_rates(struct row *row)
{
        double sum = 0, squares = 0, least = INFINITY, greatest = 0;
        for (unsigned i = 0; i < row->producer_count; i++) {
                double rate = rate_of(&row->by_producer[i]);
                sum += rate;
                squares += rate * rate;
                least = fmin(least, rate);
                greatest = fmax(greatest, rate);
        }
        row->fairness_jain = squares > 0 ? sum * sum / (row->producer_count * squares) : 0;
        row->slowest_over_fastest = greatest > 0 ? least / greatest : NAN;
}

/* The greatest age in each shard, and of those the greatest and the least. */
static void fill_ages(struct row *row)
{
        long shards = spec_value(rounds.spec, "shards");
        uint64_t lists = shards > 0 ? (uint64_t)shards : 1, best = ROW_NA, worst = 0;
        uint64_t *oldest = must_allocate(lists * sizeof *oldest);
        for (uint64_t i = 0; i < lists; i++)
                oldest[i] = ROW_NA; /* nobody uses it */
        bool known = true, any = false;
        for (unsigned i = 0; i < row->producer_count; i++) {
                const struct row_producer *one = &row->by_producer[i];
                if (one->oldest_request_ns == ROW_NA)
                        continue;
                any = true;
                worst = one->oldest_request_ns > worst ? one->oldest_request_ns : worst;
                known = known && one->shard != ROW_NA;
                if (known && (oldest[one->shard] == ROW_NA ||
                                     one->oldest_request_ns > oldest[one->shard]))
                        oldest[one->shard] = one->oldest_request_ns;
        }
        for (uint64_t i = 0; i < lists; i++)
                best = oldest[i] < best ? oldest[i] : best;
        row->oldest_request_ns = any ? worst : ROW_NA;
        row->best_shard_oldest_request_ns = known ? best : ROW_NA;
        free(oldest);
}

void fairness_fill(struct row *row, const struct totals *totals, const char *instead)
{
        row->by_producer = must_allocate(rounds.producers * sizeof *row->by_producer);
        row->producer_count = rounds.producers;
        for (unsigned i = 0; i < rounds.producers; i++)
                row->by_producer[i] = (struct row_producer){.number = i,
                        .shard = shard_of(producers_index(i), instead),
                        .submits = totals->accepted_of[i],
                        .active_ns = totals->active_ns_of[i],
                        .oldest_request_ns = totals->accepted_of[i] ? rounds.oldest_ns[i] : ROW_NA};
        fill_rates(row);
        fill_ages(row);
}
