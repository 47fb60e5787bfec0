/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Stands in for libc's sched_getaffinity: the kernel's answer, or the CPUs of mask_list, or those
 * of a kernel with mask_bits CPUs of which every mask_step-th is ours.
 */
#ifndef FANIN_TESTS_MASK_H
#define FANIN_TESTS_MASK_H

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "../experiments/cpus.h"

static unsigned mask_bits, mask_step;
static const char *mask_list;

static int mask_set_list(size_t bytes, cpu_set_t *set)
{
        struct cpus cpus;
        assert_int_equal(cpus_parse(mask_list, &cpus), 0);
        bool fits = cpus.ids[cpus.count - 1] < bytes * 8;
        for (unsigned i = 0; fits && i < cpus.count; i++)
                CPU_SET_S(cpus.ids[i], bytes, set);
        cpus_free(&cpus);
        errno = EINVAL;
        return fits ? 0 : -1;
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
        CPU_ZERO_S(bytes, set);
        if (mask_list)
                return mask_set_list(bytes, set);
        if (!mask_bits)
                return syscall(SYS_sched_getaffinity, pid, bytes, set) < 0 ? -1 : 0;
        if (bytes * 8 < mask_bits) {
                errno = EINVAL;
                return -1;
        }
        for (unsigned id = mask_step - 1; id < mask_bits; id += mask_step)
                CPU_SET_S(id, bytes, set);
        return 0;
}

#endif
