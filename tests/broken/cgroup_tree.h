/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A made-up cgroup for backends that do what the kernel does to a real one: where the environment
 * names a directory in FANIN_BROKEN_CGROUP, the program, sweep and sample, looks for its cgroup
 * below it, and these write there. The contract test has no such program.
 */
#ifndef FANIN_TESTS_CGROUP_TREE_H
#define FANIN_TESTS_CGROUP_TREE_H

#include <stdio.h>
#include <stdlib.h>

#include "../../experiments/cgroup.h"

#pragma weak cgroup_root

static __attribute__((constructor)) void cgroup_tree_find(void)
{
        const char *root = getenv("FANIN_BROKEN_CGROUP");
        if (root && &cgroup_root)
                cgroup_root = root;
}

/* "key number" becomes the whole file; nothing without a tree. */
static inline void cgroup_tree_write(const char *file, const char *key, unsigned long number)
{
        const char *root = getenv("FANIN_BROKEN_CGROUP");
        char path[512];
        if (!root)
                return;
        snprintf(path, sizeof path, "%s/sys/fs/cgroup/fanin/%s", root, file);
        FILE *stream = fopen(path, "we");
        if (!stream)
                abort();
        fprintf(stream, "%s %lu\n", key, number);
        fclose(stream);
}

#endif
