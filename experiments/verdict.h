/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What `fanin verdict` finds of each configuration, and how it is printed. */
#ifndef FANIN_VERDICT_H
#define FANIN_VERDICT_H

#include "curve.h"
#include "usl.h"

struct finding {
        const struct curve *curve;
        struct judgement judgement;
        struct usl usl;
        struct usl_intervals usl_intervals; /* of samples only */
        unsigned in_turn, bad, skipped;     /* counts of producers; samples */
        bool past_cpus;                     /* counts above that of the CPUs are in it */
};

/* One per curve, in their order. */
void verdict_print_csv(const struct finding *, const struct curves *);
void verdict_print_json(const struct finding *, const struct curves *);
void verdict_print_table(const struct finding *, const struct curves *);

#endif
