/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The tables of backends and signals that this build has, as the Makefile found them. Thread-safe:
 * constant. */
#ifndef FANIN_REGISTRY_H
#define FANIN_REGISTRY_H

#include <stddef.h>

#include "../queues/queue.h"
#include "signal.h"

struct registry_left_out {
        const char *what, *reason;
};

/* Generated: each file's backends or signals, then NULL; what is left out, then a NULL. */
extern const struct queue_ops *const *const registry_files[];
extern const struct signal_ops *const *const registry_signal_files[];
extern const struct registry_left_out registry_left_out[];

/* The i-th backend in the order of files; NULL past the last. */
const struct queue_ops *registry_at(unsigned i);

/* Likewise of signals; the first is the default. */
const struct signal_ops *registry_signal_at(unsigned i);

/* By name; NULL: none. */
const struct queue_ops *registry_find(const char *name);

/* Checks every table (names, hooks, keys, traits). True: sound; else why gets one sentence. */
bool registry_check(char *why, size_t why_bytes);

#endif
