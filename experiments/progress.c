/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"

void progress_begin(struct progress *progress, unsigned total, double budget_s)
{
        *progress = (struct progress){.terminal = isatty(STDERR_FILENO),
                .start_ns = clock_wall_ns(),
                .told_ns = clock_wall_ns(),
                .total = total,
                .budget_s = budget_s};
}

double progress_elapsed_s(const struct progress *progress)
{
        return (double)(clock_wall_ns() - progress->start_ns) / 1e9;
}

bool progress_spent(const struct progress *progress)
{
        return progress->budget_s > 0 && progress_elapsed_s(progress) >= progress->budget_s;
}

/* By the pace so far, and never more than is left of the budget. NAN: not known yet. */
static double estimate_s(const struct progress *progress)
{
        double elapsed_s = progress_elapsed_s(progress), left_s = NAN;
        if (progress->done && progress->total >= progress->done)
                left_s = elapsed_s / progress->done * (progress->total - progress->done);
        return progress->budget_s > 0 ? fmin(left_s, fmax(0, progress->budget_s - elapsed_s))
                                      : left_s;
}

void progress_show(struct progress *progress, const char *config, unsigned producers)
{
        uint64_t now_ns = clock_wall_ns();
        if (!progress->terminal &&
                now_ns - progress->told_ns < PROGRESS_EVERY_S * UINT64_C(1000000000))
                return;
        progress->told_ns = now_ns;
        char total[32] = "", left[48] = "", budget[64] = "";
        double left_s = estimate_s(progress);
        if (progress->total)
                snprintf(total, sizeof total, "/%u", progress->total);
        if (isfinite(left_s))
                snprintf(left, sizeof left, ", %.0f s left", left_s);
        if (progress->budget_s > 0)
                snprintf(budget, sizeof budget, ", %.0f of %.0f s spent",
                        progress_elapsed_s(progress), progress->budget_s);
        fprintf(stderr, "%s[%u%s%s%s] %s, %u producers%s", progress->terminal ? "\r\033[K" : "",
                progress->done, total, left, budget, config, producers,
                progress->terminal ? "" : "\n");
}

void progress_hide(const struct progress *progress)
{
        if (progress->terminal)
                fputs("\r\033[K", stderr);
}
