/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What a measurement is asked to do: the options of `run`, `gate`, `bars` and `sample`, and
 * their parsing. */
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
enum settings_format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

struct settings {
        struct spec *configs;
        unsigned config_count;
        unsigned *producers;
        unsigned producers_count;
        unsigned per_producer; /* 0: auto */
        unsigned samples;
        double min_time_s, max_sample_s, deadline_s;
        unsigned think_ns, handler_ns, poll_ms;
        unsigned seed;
        size_t max_backlog_bytes;
        bool drop_on_full, check, quick;
        enum settings_pin pin;
        enum settings_format format;
        const char *out;
        unsigned *cpus; /* sample: where to pin, the FFI thread first */
        unsigned cpu_count;
        double min_share; /* gate */
        /* The options that a sample must get as they were given. */
        struct settings_forward {
                const char *name, *value;
        } forward[16];
        unsigned forward_count;
};

enum settings_use { FOR_RUN = 1, FOR_GATE = 2, FOR_SAMPLE = 4, FOR_BARS = 8 };

/* Fills in the defaults. */
void settings_init(struct settings *);

/* A command's own default for an option, which samples get too. Before settings_parse. */
void settings_default(struct settings *, const char *name, const char *value);

/* Parses argv[1…]; on a fault prints one sentence and exits with EXIT_USAGE; on --help prints it
 * and exits with EXIT_DONE. */
void settings_parse(struct settings *, enum settings_use use, int argc, char **argv);

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
