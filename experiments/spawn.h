/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Runs one sample as a process of its own, under a deadline. */
#ifndef FANIN_SPAWN_H
#define FANIN_SPAWN_H

#include <signal.h>

#include "row.h"
#include "settings.h"

/* Set by SIGINT or SIGTERM once spawn_catch_signals was called: the sweep ends after killing the
 * sample under way. */
extern volatile sig_atomic_t spawn_interrupted;

void spawn_catch_signals(void);

/* Executes this program's `sample` and fills in row: status, numbers, reason. Whatever the process
 * does (hang, crash, be killed, print rubbish) becomes a status. per_producer 0: auto. False:
 * interrupted, no row. */
bool spawn_sample(const struct settings *, const struct spec *, unsigned producers,
        unsigned per_producer, struct row *row);

#endif
