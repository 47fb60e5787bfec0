/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What a backend promises, asked of the backend itself: it is created, and what create left of the
 * table's traits, and what it allocated, is looked at. For `fanin list` and the generated docs.
 */
#ifndef FANIN_PROMISES_H
#define FANIN_PROMISES_H

#include <stdbool.h>

#include "../engine/registry.h"

/* The words of `fanin list` for traits. */
const char *promises_order(unsigned traits);
const char *promises_progress(unsigned traits);
const char *promises_seen(enum queue_seen seen);

/* Sets QUEUE_KEYS_MAX values: every key at its default. */
void promises_defaults(const struct queue_ops *ops, unsigned *values);

/* For queue_config: nobody is inside. Dies without memory. */
struct queue_guard *promises_guards(unsigned producers);

/* With every key at its default. */
struct promises {
        unsigned traits;     /* what create left, with a known backlog */
        const char *instead; /* what ran in its place here: then traits are the table's */
        int error;           /* why create refused, or 0 */
};

struct promises promises_of(const struct queue_ops *ops);

/*
 * What the traits are instead when keys have other values, as create says: "shards>1: per-producer
 * FIFO; shards>1 and by=cpu: no order". Of a number are tried its least value, its double and its
 * fourfold. "" when nothing changes, or something else runs in its place. The caller frees it.
 */
char *promises_variants(const struct queue_ops *ops);

/*
 * What the queue allocates before the first request, nothing being preallocated: of its own and for
 * each producer, with malloc's overhead; from what it has with 1 and with 101 producers.
 */
struct promises_memory {
        bool known; /* false: this build or C library can't count, or create failed */
        long queue_bytes, producer_bytes;
};

struct promises_memory promises_memory_of(const struct queue_ops *ops);

#endif
