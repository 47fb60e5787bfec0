/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What each producer got: its rate, and how long its requests waited; over producers and shards. */
#ifndef FANIN_FAIRNESS_H
#define FANIN_FAIRNESS_H

#include "rounds.h"

/* Fills in row's by_producer (row_drop_details frees it) and the columns that follow from it.
 * instead: what runs in the configured queue's place, or NULL. While the producers live. */
void fairness_fill(struct row *row, const struct totals *totals, const char *instead);

#endif
