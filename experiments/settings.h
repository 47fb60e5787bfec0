/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What a command is asked to do: the options of all commands but `list`, and their parsing. */
#ifndef FANIN_SETTINGS_H
#define FANIN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../engine/spec.h"

/* Exit codes, as --help documents them. */
enum exit_code {
        EXIT_DONE = 0,
        EXIT_FAILED = 1, /* a gate or check failed, or a sample hung, crashed or was refused */
        EXIT_USAGE = 2,  /* an option, a file or a directory is not usable */
        EXIT_INCONCLUSIVE = 3,
        EXIT_BROKEN = 4, /* a correctness rule: lost, doubled, disordered, lost wake */
        EXIT_INTERRUPTED = 130,
};

enum settings_pin { PIN_NONE, PIN_COMPACT, PIN_SCATTER };
enum settings_cores { CORES_FAST, CORES_SLOW, CORES_ALL };
enum settings_format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

extern const char *const settings_pin_names[];

struct settings {
        struct spec *configs;
        unsigned config_count;
        unsigned *producers;
        unsigned producers_count;
        unsigned per_producer; /* 0: auto */
        unsigned samples;
        double min_time_s, max_sample_s, deadline_s;
        double until;    /* the interval's half-width over its median; 0: not asked for */
        double budget_s; /* 0: none */
        unsigned think_ns, handler_ns, poll_ms;
        unsigned seed;
        size_t max_backlog_bytes;
        unsigned drop_on_full, no_check; /* 0 or 1, as all flags below */
        unsigned quick, aa, pin_required, strict, closed;
        unsigned explain; /* once explain_add_parts was called, the number of configurations to
                             explain */
        unsigned pin, cores, format; /* enums above */
        const char *out, *resume;
        const char *twin_program; /* what the second of each pair executes; NULL: this program */
        unsigned *cpus;           /* sample: where to pin, the FFI thread first */
        unsigned cpu_count;
        double min_share; /* gate */
        double tolerance; /* compare */
        /* latency */
        double *rates_per_s; /* none: from --rate auto */
        unsigned rate_count;
        double duration_s;
        unsigned fixed_arrivals, stall_ms;
        const char *operands[2]; /* verdict, compare: paths */
        unsigned operand_count;
        /* The options that a sample must get as they were given. */
        struct settings_forward {
                const char *name, *value;
        } forward[24];
        unsigned forward_count;
};

enum settings_use {
        FOR_RUN = 1 << 0,
        FOR_GATE = 1 << 1,
        FOR_SAMPLE = 1 << 2,
        FOR_BARS = 1 << 3,
        FOR_LATENCY = 1 << 4,        /* the sweep of rates */
        FOR_LATENCY_SAMPLE = 1 << 5, /* its sample's process: `fanin latency-sample` */
        FOR_VERDICT = 1 << 6,
        FOR_COMPARE = 1 << 7,
        FOR_DOCTOR = 1 << 8,
};

/* Fills in the defaults. */
void settings_init(struct settings *);

/* A command's own default for an option, which samples get too. Before settings_parse. */
void settings_default(struct settings *, const char *name, const char *value);

/* Parses argv[1…]; on a fault prints one sentence and exits with EXIT_USAGE; on --help prints it
 * and exits with EXIT_DONE. */
void settings_parse(struct settings *, enum settings_use use, int argc, char **argv);

/* What the command's --help says before its options. */
const char *settings_introduction(enum settings_use use);

/* Parses a list "1,2,4" of producer counts, as the option or variable name. Exits on a fault. */
void settings_producers(struct settings *, const char *name, const char *list);

/* A whole number for the option or variable name. Exits on a fault. */
unsigned settings_number(const char *name, const char *text, unsigned min, unsigned max);

/* Adds each configuration of a comma-separated list. Exits on a fault. */
void settings_configs(struct settings *, const char *name, const char *list);

void settings_free(struct settings *);

/* Prints "fanin: …" to stderr and exits with EXIT_USAGE. */
_Noreturn __attribute__((format(printf, 1, 2))) void die(const char *format, ...);

/* malloc that dies. */
void *must_allocate(size_t bytes);

#endif
