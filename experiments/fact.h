/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Files of /proc and /sys, below cgroup_root. */
#ifndef FANIN_FACT_H
#define FANIN_FACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* NULL: it can't be read. */
FILE *fact_open(const char *path);

/* The file's first line, without its end. False: there is none. */
bool fact_line(const char *path, char *line, size_t bytes);

#endif
