/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Configuration strings: queue[:key=value…][/wake[/signal[/alloc]]]. */
#ifndef FANIN_SPEC_H
#define FANIN_SPEC_H

#include "registry.h"
#include "wake.h"

enum spec_alloc {
        SPEC_MALLOC, /* the producer allocates inside submit, the FFI thread frees */
        SPEC_SLAB,   /* preallocated and touched at the producer's first submit */
        SPEC_ALLOCS,
};

extern const char *const spec_alloc_names[SPEC_ALLOCS];

struct spec {
        const struct queue_ops *queue;
        unsigned values[QUEUE_KEYS_MAX]; /* of queue->keys */
        enum wake_policy wake;
        const struct signal_ops *signal;
        enum spec_alloc alloc;
};

enum { SPEC_BYTES = 256 };

/* True: *spec is set; false: why gets one sentence that names the part, its value and what is
 * allowed, also when the parts can't be honoured together. */
bool spec_parse(const char *text, struct spec *spec, char *why, size_t why_bytes);

/* The combination again, for a queue that is made: create may have cleared traits, the edge's among
 * them. True, or why gets one sentence. */
bool spec_check(const struct spec *spec, unsigned traits, char *why, size_t why_bytes);

/* The queue's part of the canonical string. */
void spec_print_queue(const struct spec *spec, char *text, size_t text_bytes);

/* The canonical string, every key and part named. */
void spec_print(const struct spec *spec, char *text, size_t text_bytes);

/* The value of a key by name; -1: the queue has no such key. */
long spec_value(const struct spec *spec, const char *key);

#endif
