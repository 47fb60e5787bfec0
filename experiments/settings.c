/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Parses options. One table gives the names, what uses them, their help and their parser. */
#include "settings.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/fanin.h"

_Noreturn void die(const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        fputs("fanin: ", stderr);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
        exit(EXIT_USAGE);
}

void *must_allocate(size_t bytes)
{
        void *memory = calloc(1, bytes ? bytes : 1);
        if (!memory)
                die("no memory for %zu bytes", bytes);
        return memory;
}

unsigned settings_number(const char *name, const char *text, unsigned min, unsigned max)
{
        char *end;
        errno = 0;
        unsigned long number = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || *end || errno || number < min || number > max)
                die("%s can't be '%s'; allowed: a whole number from %u to %u", name, text, min,
                        max);
        return (unsigned)number;
}

/* Decimal point whatever the user's locale: the program never leaves the C locale. */
static double decimal(const char *name, const char *text, const char *what, double min, double max)
{
        char *end;
        double number = strtod(text, &end);
        if (*text < '0' || *text > '9' || *end || !(number >= min && number <= max))
                die("%s can't be '%s'; allowed: %s from %g to %g", name, text, what, min, max);
        return number;
}

static size_t bytes(const char *name, const char *text)
{
        static const char suffixes[] = "KMG";
        char *end;
        errno = 0;
        unsigned long long number = strtoull(text, &end, 10);
        const char *suffix = *end ? strchr(suffixes, *end) : NULL;
        unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
        if (*text < '0' || *text > '9' || errno || end[!!suffix] || !number ||
                number > SIZE_MAX >> shift)
                die("%s can't be '%s'; allowed: bytes, with K, M or G, for example 256M", name,
                        text);
        return (size_t)number << shift;
}

/* The position of text in "a|b|c". */
static unsigned choice(const char *name, const char *text, const char *choices)
{
        unsigned i = 0;
        for (const char *at = choices; *at; i++) {
                size_t length = strcspn(at, "|");
                if (length == strlen(text) && !memcmp(at, text, length))
                        return i;
                at += length + (at[length] == '|');
        }
        die("%s can't be '%s'; allowed: %s", name, text, choices);
}

/* Calls each for every element of a comma-separated list. */
static void for_each(const char *name, const char *list, struct settings *settings,
        void (*each)(struct settings *, const char *name, const char *element))
{
        char *copy = strdup(list), *rest = copy;
        if (!copy)
                die("no memory");
        for (char *element; (element = strsep(&rest, ","));)
                each(settings, name, element);
        free(copy);
}

static void *grow(void *array, unsigned count, size_t element)
{
        array = realloc(array, (count + 1) * element);
        if (!array)
                die("no memory");
        return array;
}

static void add_producers(struct settings *settings, const char *name, const char *element)
{
        unsigned count = settings_number(name, element, 1, FANIN_PRODUCERS_MAX);
        for (unsigned i = 0; i < settings->producers_count; i++)
                if (settings->producers[i] == count)
                        die("%s names %u twice; allowed: each count once", name, count);
        settings->producers =
                grow(settings->producers, settings->producers_count, sizeof(unsigned));
        settings->producers[settings->producers_count++] = count;
}

void settings_producers(struct settings *settings, const char *name, const char *list)
{
        settings->producers_count = 0;
        for_each(name, list, settings, add_producers);
}

static bool same_config(const struct spec *a, const struct spec *b)
{
        char text_a[SPEC_BYTES], text_b[SPEC_BYTES];
        spec_print(a, text_a, sizeof text_a);
        spec_print(b, text_b, sizeof text_b);
        return !strcmp(text_a, text_b);
}

static void add_config(struct settings *settings, const char *name, const char *element)
{
        char why[512];
        struct spec spec;
        if (!strcmp(element, "reference")) {
                settings_configs(settings, name, "handshake/every,vyukov/every,sharded_mutex/edge");
                return;
        }
        if (!spec_parse(element, &spec, why, sizeof why))
                die("%s: %s", name, why);
        for (unsigned i = 0; i < settings->config_count; i++)
                if (same_config(&settings->configs[i], &spec))
                        die("%s names '%s' twice; allowed: each configuration once", name, element);
        settings->configs = grow(settings->configs, settings->config_count, sizeof spec);
        settings->configs[settings->config_count++] = spec;
}

void settings_configs(struct settings *settings, const char *name, const char *list)
{
        for_each(name, list, settings, add_config);
}

static void add_cpu(struct settings *settings, const char *name, const char *element)
{
        unsigned cpu = settings_number(name, element, 0, 8191);
        settings->cpus = grow(settings->cpus, settings->cpu_count, sizeof(unsigned));
        settings->cpus[settings->cpu_count++] = cpu;
}

enum key {
        CONFIG,
        PRODUCERS,
        PER_PRODUCER,
        SAMPLES,
        MIN_TIME,
        MAX_SAMPLE,
        DEADLINE,
        THINK,
        HANDLER,
        POLL,
        ON_FULL,
        CHECK,
        MAX_BACKLOG,
        PIN,
        CPUS,
        SEED,
        FORMAT,
        OUT,
        QUICK,
        MIN_SHARE,
        HELP,
        ROWS,
};

struct row {
        const char *name, *argument, *help;
        unsigned uses;
};

enum { FOR_ANY = FOR_RUN | FOR_GATE | FOR_SAMPLE | FOR_BARS };

static const struct row rows[ROWS] = {
        [CONFIG] = {"config", "C[,C…]",
                "queue[:key=value…][/wake[/signal[/alloc]]], see `fanin list`; "
                "`reference` is the published three",
                FOR_RUN | FOR_GATE | FOR_SAMPLE},
        [PRODUCERS] = {"producers", "N[,N…]", "producer counts, 1 to 4096 (1,2,4,8)",
                FOR_RUN | FOR_SAMPLE | FOR_BARS},
        [PER_PRODUCER] = {"per-producer", "auto|N", "requests per producer and round (auto)",
                FOR_RUN | FOR_SAMPLE},
        [SAMPLES] = {"samples", "N", "samples per cell; a sample is a process (7)",
                FOR_RUN | FOR_BARS},
        [MIN_TIME] = {"min-time", "S", "a sample repeats rounds until so much submit time (0.2)",
                FOR_ANY},
        [MAX_SAMPLE] = {"max-sample", "S", "… or so much wall time, drains included (1)", FOR_ANY},
        [DEADLINE] = {"deadline", "S",
                "a longer sample is killed: status hang (20 + 10 x max-sample)", FOR_ANY},
        [THINK] = {"think-ns", "N", "a producer's work between submits (0)", FOR_ANY},
        [HANDLER] = {"handler-ns", "N", "the handler's work per request (0)", FOR_ANY},
        [POLL] = {"poll-ms", "N", "fallback poll of the FFI thread, 0: off (100)", FOR_ANY},
        [ON_FULL] = {"on-full", "retry|drop", "what a producer does when the queue is full (retry)",
                FOR_ANY},
        [CHECK] = {"check", "on|off", "exactly-once and order of every request (on)", FOR_ANY},
        [MAX_BACKLOG] = {"max-backlog", "BYTES", "memory of a round's requests (256M)", FOR_ANY},
        [PIN] = {"pin", "none|compact|scatter", "where threads run (none)", FOR_ANY},
        [CPUS] = {"cpus", "N[,N…]", "CPUs to pin to, the FFI thread's first", FOR_SAMPLE},
        [SEED] = {"seed", "N", "of the order of the cells (1)", FOR_RUN | FOR_GATE | FOR_BARS},
        [FORMAT] = {"format", "table|csv|json", "what stdout gets (table)", FOR_RUN},
        [OUT] = {"out", "DIR", "also writes a run directory; it must not exist",
                FOR_RUN | FOR_BARS},
        [QUICK] = {"quick", NULL, "marks the run as a quick one", FOR_RUN | FOR_BARS},
        [MIN_SHARE] = {"min-share", "X", "of the `private` ceiling's rate at the last count (0.1)",
                FOR_GATE},
        [HELP] = {"help", NULL, "this", FOR_ANY},
};

static const char *const introductions[] = {
        [FOR_RUN] = "usage: fanin run --config C[,C…] [option…]\n\n"
                    "Measures each configuration at each producer count: samples interleaved in a\n"
                    "seeded random order, each a process of its own. Prints submit rate with its\n"
                    "interval, the ratio to 1 producer, completion rate and wakes per submit.\n\n"
                    "  fanin run --config reference --producers 1,8,64\n"
                    "  fanin run --config vyukov/every,vyukov/edge --out runs/wake\n\n",
        [FOR_GATE] =
                "usage: fanin gate [option…]\n\n"
                "The reference's scaling gate: the submit rate at the last producer count must be\n"
                "1.5 times that at the first, and at least --min-share of the `private` ceiling's\n"
                "at the last count. Its knobs are the reference's environment variables:\n"
                "  FFI_SUBMIT_PER_THREAD  requests per producer and round (20000)\n"
                "  FFI_SUBMIT_ITERS       samples per count (5)\n"
                "  FFI_SUBMIT_THREADS     producer counts, first is the base, last the peak "
                "(1,2,4,8)\n"
                "  FFI_SCALING_GATE       0: report only (1)\n\n",
        [FOR_BARS] = "usage: fanin bars [option…]\n\n"
                     "What each queue adds to a submit: producer CPU ns beside those of `private`, "
                     "which\n"
                     "has no queue, with slab, under the wake policies that cost a producer least; "
                     "at 1,\n"
                     "2, 8, 32 and 100 producers. Then the bars that lanes, percpu and ck_ring are "
                     "held\n"
                     "to, each figure beside its bar. `make bench-queues` runs it. Defaults other "
                     "than below:\n"
                     "--producers 1,2,8,32,100 --min-time 0.04 --max-sample 0.3 "
                     "--deadline 3\n\n",
        [FOR_SAMPLE] = "usage: fanin sample --config C --producers N [option…]\n\n"
                       "One sample, as `fanin run` executes it; prints key=value pairs.\n\n",
};

static void print_help(enum settings_use use)
{
        fputs(introductions[use], stdout);
        for (unsigned i = 0; i < ROWS; i++) {
                char option[64];
                if (!(rows[i].uses & use))
                        continue;
                snprintf(option, sizeof option, "--%s %s", rows[i].name,
                        rows[i].argument ? rows[i].argument : "");
                printf("  %-28s %s\n", option, rows[i].help);
        }
        if (use == FOR_SAMPLE)
                puts("\nexit: 0 the row was printed, whatever its status; 2 usage");
        else
                puts("\nexit: 0 done, 1 a gate or check failed, 2 usage, 3 inconclusive, 4 a "
                     "correctness\n"
                     "rule broken (lost, doubled, disordered, lost wake), 130 interrupted");
}

static void set(struct settings *settings, enum settings_use use, enum key key, const char *value)
{
        char name[32];
        snprintf(name, sizeof name, "--%s", rows[key].name);
        switch (key) {
        case CONFIG:
                settings_configs(settings, name, value);
                break;
        case PRODUCERS:
                settings_producers(settings, name, value);
                break;
        case PER_PRODUCER:
                settings->per_producer =
                        !strcmp(value, "auto") ? 0 : settings_number(name, value, 1, 1u << 30);
                break;
        case SAMPLES:
                settings->samples = settings_number(name, value, 1, 10000);
                break;
        case MIN_TIME:
                settings->min_time_s = decimal(name, value, "seconds", 0.001, 3600);
                break;
        case MAX_SAMPLE:
                settings->max_sample_s = decimal(name, value, "seconds", 0.001, 3600);
                break;
        case DEADLINE:
                settings->deadline_s = decimal(name, value, "seconds", 0.1, 36000);
                break;
        case THINK:
                settings->think_ns = settings_number(name, value, 0, 1000000000);
                break;
        case HANDLER:
                settings->handler_ns = settings_number(name, value, 0, 1000000000);
                break;
        case POLL:
                settings->poll_ms = settings_number(name, value, 0, 60000);
                break;
        case ON_FULL:
                settings->drop_on_full = choice(name, value, "retry|drop");
                break;
        case CHECK:
                settings->check = !choice(name, value, "on|off");
                break;
        case MAX_BACKLOG:
                settings->max_backlog_bytes = bytes(name, value);
                break;
        case PIN:
                settings->pin = choice(name, value, "none|compact|scatter");
                break;
        case CPUS:
                for_each(name, value, settings, add_cpu);
                break;
        case SEED:
                settings->seed = settings_number(name, value, 0, UINT32_MAX);
                break;
        case FORMAT:
                settings->format = choice(name, value, "table|csv|json");
                break;
        case OUT:
                settings->out = value;
                break;
        case QUICK:
                settings->quick = true;
                break;
        case MIN_SHARE:
                settings->min_share = decimal(name, value, "a share", 0, 1);
                break;
        case HELP:
                print_help(use);
                exit(EXIT_DONE);
        case ROWS:
                break;
        }
}

void settings_init(struct settings *settings)
{
        *settings = (struct settings){
                .samples = 7,
                .min_time_s = 0.2,
                .max_sample_s = 1,
                .poll_ms = 100,
                .seed = 1,
                .max_backlog_bytes = (size_t)256 << 20,
                .check = true,
                .min_share = 0.1,
        };
        settings_producers(settings, "--producers", "1,2,4,8");
}

/* For the samples; what differs between them is spawn.c's to say. */
static void forward(struct settings *settings, enum key key, const char *value)
{
        unsigned room = sizeof settings->forward / sizeof settings->forward[0];
        if (!(rows[key].uses & FOR_SAMPLE) || key == CONFIG || key == PRODUCERS ||
                key == PER_PRODUCER)
                return;
        if (settings->forward_count == room)
                die("--%s can't be given here; allowed: %u such options", rows[key].name, room);
        settings->forward[settings->forward_count++] =
                (struct settings_forward){rows[key].name, value};
}

void settings_default(struct settings *settings, const char *name, const char *value)
{
        unsigned key = 0;
        while (strcmp(rows[key].name, name) != 0)
                key++;
        set(settings, FOR_RUN, (enum key)key, value);
        forward(settings, (enum key)key, value); /* given twice to a sample, the last counts */
}

/* `poll` looks every poll-ms, so 0 can't be honoured with it. */
static void check_together(const struct settings *settings)
{
        for (unsigned i = 0; i < settings->config_count; i++)
                if (settings->configs[i].wake == WAKE_POLL && !settings->poll_ms)
                        die("--poll-ms can't be '0' with the wake 'poll', which looks every "
                            "poll-ms; allowed: 1 to 60000");
        if (settings->deadline_s < 2 * settings->max_sample_s)
                die("--deadline can't be '%g' with --max-sample %g; allowed: twice as much or "
                    "more, "
                    "for the warm-up may take as long",
                        settings->deadline_s, settings->max_sample_s);
}

void settings_parse(struct settings *settings, enum settings_use use, int argc, char **argv)
{
        /* Values of their own, above all characters: getopt then sees what is ambiguous. */
        enum { FIRST = 256 };
        struct option options[ROWS + 1] = {{0}};
        unsigned count = 0;
        for (unsigned key = 0; key < ROWS; key++)
                if (rows[key].uses & use)
                        options[count++] = (struct option){.name = rows[key].name,
                                .has_arg = rows[key].argument ? required_argument : no_argument,
                                .val = FIRST + (int)key};
        opterr = 0;
        for (int result; (result = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
                if (result == ':')
                        die("%s needs a value; see `fanin %s --help`", argv[optind - 1], argv[0]);
                if (result == '?' && optopt && optopt < FIRST)
                        die("-%c is not an option of `fanin %s`; see its --help", optopt, argv[0]);
                if (result == '?')
                        die("%s is not an option of `fanin %s`; see its --help", argv[optind - 1],
                                argv[0]);
                set(settings, use, (enum key)(result - FIRST), optarg);
                forward(settings, (enum key)(result - FIRST), optarg);
        }
        if (optind < argc)
                die("'%s' is not an option of `fanin %s`; see its --help", argv[optind], argv[0]);
        if (!settings->config_count && use & (FOR_RUN | FOR_SAMPLE))
                die("--config is missing; see `fanin %s --help` and `fanin list`", argv[0]);
        if (settings->deadline_s == 0)
                settings->deadline_s = 20 + 10 * settings->max_sample_s;
        check_together(settings);
}

void settings_free(struct settings *settings)
{
        free(settings->configs);
        free(settings->producers);
        free(settings->cpus);
}
