/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The expensive half of the guard: membarrier, or a fence where the kernel has none. */
#include "../queues/guard.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic bool queue_guard_fenced = true;

static int membarrier(int command)
{
        return (int)syscall(SYS_membarrier, command, 0, 0);
}

void queue_guard_init(void)
{
        if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
                atomic_store_explicit(&queue_guard_fenced, false, memory_order_relaxed);
}

void queue_guard_barrier(void)
{
        /* With the fence in queue_guard_enter; and our own order of unpublishing and snapshot. */
        atomic_thread_fence(memory_order_seq_cst);
        if (atomic_load_explicit(&queue_guard_fenced, memory_order_relaxed))
                return;
        /* Once registered it fails only while the kernel lacks memory for a CPU mask; to go on
         * without it would free memory in use. */
        while (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
                if (errno != ENOMEM)
                        abort();
                sched_yield();
        }
}
