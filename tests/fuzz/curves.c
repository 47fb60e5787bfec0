/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a table of curves: a sentence that names the file and a line, or curves that can be
 * judged, and to which the law is fitted or is not.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../experiments/curve.h"
#include "../../experiments/usl.h"

static void must(int holds)
{
        if (!holds)
                abort();
}

static void judge(const struct curve *curve)
{
        struct judgement judgement = curve_judge(curve, false, 1);
        must(judgement.verdict < VERDICTS && *judgement.why);
        must(judgement.counted <= curve->count && !judgement.peak == !judgement.counted);
        must(!judgement.peak || (judgement.kept.median >= 0 && judgement.kept.median <= 1));
        must(isnan(judgement.kept.lo) && isnan(judgement.gain.hi));
        enum { MOST = 16 }; /* a fit of many points takes its time, and is no other */
        double producers[MOST], rates[MOST];
        unsigned count = curve->count < MOST ? curve->count : MOST;
        for (unsigned i = 0; i < count; i++) {
                producers[i] = curve->points[i].producers;
                rates[i] = curve->points[i].rate.median;
                must(!i || producers[i] > producers[i - 1]);
        }
        struct usl usl = usl_fit(producers, rates, count);
        must(usl.fitted ? usl.sigma >= 0 && usl.kappa >= 0 && usl.peak_at >= 1 : usl.why != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        char why[512] = "";
        struct csv csv;
        struct curves curves = {.count = 0};
        bool read = csv_parse(&csv, "FILE", (const char *)data, bytes, why, sizeof why);
        if (read) {
                read = curves_of_table(&curves, &csv, why, sizeof why);
                csv_free(&csv);
        }
        if (!read) {
                must(!strncmp(why, "FILE line ", 10) || strstr(why, "no memory"));
                must(!curves.curves && !strpbrk(why, "\n\033"));
                return 0;
        }
        must(curves.count > 0);
        for (unsigned i = 0; i < curves.count; i++)
                judge(&curves.curves[i]);
        curves_free(&curves);
        return 0;
}
