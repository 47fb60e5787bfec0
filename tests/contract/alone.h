/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What the checks share in which one thread is all producers and the consumer. */
#ifndef FANIN_TESTS_ALONE_H
#define FANIN_TESTS_ALONE_H

#include "checks.h"

/* The plan's ops, values and producers are the case's. Attaches all. False: it failed. */
bool alone_open(struct subject *subject, const struct check_case *is, struct subject_plan plan);

/* Inside the producer's guard. */
enum queue_pushed alone_push(struct subject *subject, unsigned producer, struct request *request);

/* Under every index that is attached. */
void alone_flush(struct subject *subject);

/* What came after the first `before` requests must, if FIFO_GLOBAL is claimed, be ids[0 … count-1]
 * in this order: producer * quota + sequence. */
void alone_check_order(
        const struct subject *subject, unsigned before, const unsigned *ids, unsigned count);

#endif
