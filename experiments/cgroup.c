/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "cgroup.h"

#include "cpus.h"

const char *cgroup_root = "";

double cgroup_quota(void)
{
        return cpus_quota(cgroup_root);
}

uint64_t cgroup_throttled_ns(void)
{
        return UINT64_MAX;
}

uint64_t cgroup_oom_kills(void)
{
        return UINT64_MAX;
}

uint64_t cgroup_memory_limit(void)
{
        return UINT64_MAX;
}
