/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Files of /proc and /sys, below cgroup_root. */
#ifndef FANIN_FACT_H
#define FANIN_FACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* path begins with a slash. NULL: it can't be read. */
FILE *fact_open(const char *path);

/* The same of a file in a directory that is below cgroup_root already. */
FILE *fact_open_in(const char *directory, const char *name);

/* The file's first line, without its end. False: there is none. */
bool fact_line(const char *path, char *line, size_t bytes);

#endif
