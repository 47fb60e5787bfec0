/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What draining costs the consumer when few of many producers have anything. */
#ifndef FANIN_DRAIN_H
#define FANIN_DRAIN_H

#include "../queues/queue.h"

#include <stdint.h>

enum { DRAIN_BATCH_MAX = 32, DRAIN_PASSES = 2000 };

/*
 * Nanoseconds of a pass over a queue to which `attached` producers were attached and had pushed,
 * and in which the last of them has pushed again since: `batch` requests handed out, and EMPTY. One
 * thread is everything, so nothing is contended. Dies if the queue can't be made.
 */
double drain_pass_ns(const struct queue_ops *ops, unsigned attached, unsigned batch);

#endif
