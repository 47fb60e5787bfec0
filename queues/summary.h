/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A summary of lanes: a bit per producer, set by the producer when its lane needs a visit, taken by
 * the consumer 64 at a time. 64 producers share a word, and the word has lines of its own.
 */
#ifndef FANIN_SUMMARY_H
#define FANIN_SUMMARY_H

#include <stdlib.h>
#include <string.h>

#include "queue.h"

enum { QUEUE_SUMMARY_WORD = 64 };

struct queue_summary_word {
        alignas(QUEUE_LINE) _Atomic(uint64_t) bits;
};

struct queue_summary {
        unsigned word_count;
        struct queue_summary_word *words;
};

/* Zeroed memory on lines of its own, hence touched; for free(). NULL: none. */
static inline void *queue_lines(size_t bytes)
{
        bytes = (bytes + QUEUE_LINE - 1) / QUEUE_LINE * QUEUE_LINE;
        void *memory = aligned_alloc(QUEUE_LINE, bytes);
        return memory ? memset(memory, 0, bytes) : NULL;
}

/* False: no memory. queue_summary_destroy may follow either way. */
static inline bool queue_summary_create(struct queue_summary *summary, unsigned producers)
{
        summary->word_count = (producers + QUEUE_SUMMARY_WORD - 1) / QUEUE_SUMMARY_WORD;
        summary->words = (struct queue_summary_word *)queue_lines(
                summary->word_count * sizeof *summary->words);
        return summary->words;
}

static inline void queue_summary_destroy(struct queue_summary *summary)
{
        free(summary->words);
}

static inline void queue_summary_set(struct queue_summary *summary, unsigned producer)
{
        /* Release, with the acquire in queue_summary_take: what the lane holds comes before. */
        atomic_fetch_or_explicit(&summary->words[producer / QUEUE_SUMMARY_WORD].bits,
                UINT64_C(1) << producer % QUEUE_SUMMARY_WORD, memory_order_release);
}

/* The bits of producers 64 * word …, lowest first; they are clear then. */
static inline uint64_t queue_summary_take(struct queue_summary *summary, unsigned word)
{
        _Atomic(uint64_t) *bits = &summary->words[word].bits;
        /* Relaxed: by coherence it can't miss a bit whose setting happened before the drain. */
        if (!atomic_load_explicit(bits, memory_order_relaxed))
                return 0;
        /* Acquire, with the release in queue_summary_set. */
        return atomic_exchange_explicit(bits, 0, memory_order_acquire);
}

#endif
