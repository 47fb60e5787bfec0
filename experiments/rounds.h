/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Rounds: every producer submits its volume (or until the deadline), then all callbacks are awaited
 * and checked. The phase ends with the last producer's return from its last submit, so draining is
 * outside it.
 */
#ifndef FANIN_ROUNDS_H
#define FANIN_ROUNDS_H

#include "backlog.h"
#include "check.h"
#include "producers.h"
#include "row.h"

/* The open context and what its rounds did. One a process: callbacks know nothing but their
 * request. */
struct rounds {
        const struct settings *settings;
        const struct spec *spec;
        unsigned producers;
        fanin_handle handle;
        uint64_t volume;   /* per producer and round */
        uint64_t accepted; /* in this context */
        struct backlog backlog;
        struct producers_turn *turns;
        uint64_t *turn_accepted;  /* of the last round, by producer */
        uint64_t *first_tried_ns; /* see producers.h */
        size_t first_tried_each;
        _Atomic bool ends_between;
        /* the FFI thread's; to be read while it sleeps */
        alignas(QUEUE_LINE) struct check check;
        _Atomic uint64_t called_back;
        uint64_t cancelled, last_callback_ns;
        /* The longest time from a first try to its callback, by producer: of the requests with a
         * stamp. */
        uint64_t *oldest_ns;
};

extern struct rounds rounds;

/* Sums over rounds. */
struct totals {
        uint64_t rounds, submits, refused, submit_ns, complete_ns, cpu_ns, active_ns;
        uint64_t lost, doubled, disordered, lost_wakes;
        uint64_t *active_ns_of, *accepted_of; /* by producer */
};

/* For one sample; rounds_free at its end. */
void rounds_init(const struct settings *);
void rounds_free(void);

/* A context for rounds of this volume. False: row has its status and reason. */
bool rounds_open(struct row *row, uint64_t volume);
void rounds_close(void); /* of what is open: handle is not 0 */

/* Forgets the warm-up's backlog and ages. */
void rounds_begin_measured(void);

/* One round and its check; the phase in *phase_ns. False: row has its status and reason. */
bool rounds_run(struct row *row, struct totals *totals, uint64_t deadline_ns, uint64_t *phase_ns);

/* Callbacks so far in the open context. */
uint64_t rounds_callbacks(void);

#endif
