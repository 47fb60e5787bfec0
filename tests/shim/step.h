/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * queue_step for the libraries: the shims put it before every compare-and-swap, where a producer
 * can be overtaken, and behind it if it succeeded, and behind every exchange, where a producer that
 * stops leaves a half-done push. See queues/queue.h.
 */
#ifndef FANIN_SHIM_STEP_H
#define FANIN_SHIM_STEP_H

#ifdef QUEUE_STEP
#ifdef __cplusplus
extern "C" {
#endif
extern void (*queue_step_hook)(void);
#ifdef __cplusplus
}
#endif
static inline void shim_step(void)
{
        if (queue_step_hook)
                queue_step_hook();
}
#else
static inline void shim_step(void)
{
}
#endif

#endif
