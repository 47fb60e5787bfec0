/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "backlog.h"

void backlog_begin(struct backlog *backlog, uint64_t now_ns)
{
        *backlog = (struct backlog){.start_ns = now_ns, .interval_ms = 1};
}

static bool is_due(const struct backlog *backlog, uint64_t ms)
{
        return !backlog->count ||
               ms >= backlog->depths[backlog->count - 1].ms + backlog->interval_ms;
}

void backlog_note(struct backlog *backlog, uint64_t now_ns, uint64_t depth)
{
        uint64_t ms = (now_ns - backlog->start_ns) / 1000000;
        if (depth > backlog->peak)
                backlog->peak = depth;
        if (is_due(backlog, ms) && backlog->count == ROW_DEPTHS) {
                backlog->count /= 2;
                backlog->interval_ms *= 2;
                for (size_t i = 0; i < backlog->count; i++)
                        backlog->depths[i] = backlog->depths[2 * i];
        }
        if (is_due(backlog, ms))
                backlog->depths[backlog->count++] = (struct row_depth){ms, depth};
}
