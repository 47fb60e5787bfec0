/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* A directory of each test's own, where the program looks for /proc and /sys while it runs. */
#ifndef FANIN_TESTS_TREE_H
#define FANIN_TESTS_TREE_H

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../experiments/cgroup.h"

enum { PATH_BYTES = 512 };

static char tree[PATH_BYTES];

static inline int tree_make(void **state)
{
        (void)state;
        strcpy(tree, "/tmp/fanin-tree-XXXXXX");
        cgroup_root = tree;
        return mkdtemp(tree) ? 0 : -1;
}

static inline int tree_remove_one(
        const char *path, const struct stat *status, int type, struct FTW *level)
{
        (void)status, (void)type, (void)level;
        return remove(path);
}

static inline int tree_remove(void **state)
{
        (void)state;
        cgroup_root = "";
        return nftw(tree, tree_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline const char *tree_path(char path[PATH_BYTES], const char *name)
{
        assert_in_range(snprintf(path, PATH_BYTES, "%s/%s", tree, name), 1, PATH_BYTES - 1);
        return path;
}

/* Makes the directories too. */
static inline void tree_put(const char *name, const char *content)
{
        char path[PATH_BYTES];
        tree_path(path, name);
        for (char *slash = path + strlen(tree) + 1; (slash = strchr(slash, '/')); slash++) {
                *slash = '\0';
                assert_true(!mkdir(path, 0700) || errno == EEXIST);
                *slash = '/';
        }
        FILE *stream = fopen(path, "w");
        assert_non_null(stream);
        assert_true(fputs(content, stream) >= 0);
        assert_int_equal(fclose(stream), 0);
}

#endif
