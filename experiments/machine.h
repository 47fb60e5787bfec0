/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What a run says about where it ran: machine, build, date and command, for its machine.json. What
 * can't be found out is null, never 0 or a guess.
 */
#ifndef FANIN_MACHINE_H
#define FANIN_MACHINE_H

#include <jansson.h>
#include <stdbool.h>

/* An object that the caller owns; NULL if memory ran out. Takes milliseconds (hwloc, and reading
 * the clock some thousand times), so not inside anything timed. Bytes of argv that are not UTF-8
 * become '?'. */
json_t *machine_describe(int argc, char **argv);

/* Its core_classes: an array with cpus and efficiency (0: the slowest; null: can't be ranked) of
 * each kind of core; null if hwloc knows of none. The caller's; NULL if memory ran out. */
json_t *machine_core_classes(void);

/* Whether there is a hypervisor that owns up to it, 1 or 0; -1: only x86 tells. */
int machine_hypervisor(void);

/* Writes an object or array to path.tmp, then renames it to path: 0, or -errno and neither file is
 * touched or left (an older one at path stays). One writer per path. */
int machine_write(const char *path, const json_t *value);

/* A run's machine.json, which is the caller's; NULL: it is cut off, edited or another's, and why
 * has a sentence with file, line and column. At most 1 MiB. */
json_t *machine_read(const char *path, char *why, size_t why_bytes);
json_t *machine_parse(
        const char *path, const char *text, size_t bytes, char *why, size_t why_bytes);

/* A text of the description, which outlives it no more; "NA": there is none. */
const char *machine_text(const json_t *machine, const char *key);

/* Whether rates of the two may be compared: host, CPU model, architecture, effective CPUs,
 * topology, and memory within 1 %. Kernel, compiler and commit may differ: what they do is what is
 * compared; so may governor, clock source and load, which `fanin doctor` is for. */
bool machine_same(const json_t *a, const json_t *b);

#endif
