/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Parses options. One table gives the names, what uses them, their help and their parser. */
#include "settings.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
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

const char *const settings_pin_names[] = {"none", "compact", "scatter"};

/* How an option's text becomes its field. */
enum how { HOW_WHOLE, HOW_DECIMAL, HOW_PERCENT, HOW_CHOICE, HOW_FLAG, HOW_TEXT, HOW_BY_SET };

struct option_row {
        const char *name, *argument, *help;
        unsigned uses;
        enum how how;
        size_t offset;
        double min, max;
        const char *what; /* of a decimal; the choices; for a whole: a word that means 0, or NULL */
        void (*set)(struct settings *, const char *name, const char *value);
};

static void set_config(struct settings *settings, const char *name, const char *value)
{
        settings_configs(settings, name, value);
}

static void set_cpus(struct settings *settings, const char *name, const char *value)
{
        for_each(name, value, settings, add_cpu);
}

static void set_max_backlog(struct settings *settings, const char *name, const char *value)
{
        settings->max_backlog_bytes = bytes(name, value);
}

static void add_rate(struct settings *settings, const char *name, const char *element)
{
        double rate = decimal(name, element, "requests per second", 1, 1e9);
        settings->rates_per_s =
                grow(settings->rates_per_s, settings->rate_count, sizeof *settings->rates_per_s);
        settings->rates_per_s[settings->rate_count++] = rate;
}

static void set_rates(struct settings *settings, const char *name, const char *value)
{
        settings->rate_count = 0;
        if (strcmp(value, "auto") != 0)
                for_each(name, value, settings, add_rate);
}

/* "90", "90s", "10m", "2h". */
static void set_budget(struct settings *settings, const char *name, const char *value)
{
        static const char units[] = "smh";
        static const double seconds[] = {1, 60, 3600};
        char *end;
        double number = strtod(value, &end);
        const char *unit = *end ? strchr(units, *end) : units;
        bool sound = *value >= '0' && *value <= '9' && unit && (!*end || !end[1]);
        if (sound)
                settings->budget_s = number * seconds[unit - units];
        if (!sound || !(settings->budget_s >= 1 && settings->budget_s <= 1e6))
                die("%s can't be '%s'; allowed: a time from 1s to 1000000s, with s, m or h, for "
                    "example 10m",
                        name, value);
}

enum {
        FOR_ANY = FOR_RUN | FOR_GATE | FOR_SAMPLE | FOR_BARS,
        FOR_TIMED = FOR_LATENCY | FOR_LATENCY_SAMPLE,
        FOR_CELLS = FOR_RUN | FOR_GATE | FOR_BARS | FOR_LATENCY,
};

/* clang-format off */
#define WHOLE(field, min, max, zero) HOW_WHOLE, offsetof(struct settings, field), min, max, zero, NULL
#define DECIMAL(field, min, max, what) HOW_DECIMAL, offsetof(struct settings, field), min, max, what, NULL
#define PERCENT(field, min, max) HOW_PERCENT, offsetof(struct settings, field), min, max, NULL, NULL
#define CHOICE(field, choices) HOW_CHOICE, offsetof(struct settings, field), 0, 0, choices, NULL
#define FLAG(field) HOW_FLAG, offsetof(struct settings, field), 0, 0, NULL, NULL
#define TEXT(field) HOW_TEXT, offsetof(struct settings, field), 0, 0, NULL, NULL
#define BY(set) HOW_BY_SET, 0, 0, 0, NULL, set
/* clang-format on */

static const struct option_row rows[] = {
        {"config", "C[,C…]",
                "queue[:key=value…][/wake[/signal[/alloc]]], see `fanin list`; "
                "`reference` is the published three",
                FOR_RUN | FOR_GATE | FOR_SAMPLE | FOR_TIMED, BY(set_config)},
        {"producers", "N[,N…]", "producer counts, 1 to 4096 (1,2,4,8; latency: 4)",
                FOR_RUN | FOR_SAMPLE | FOR_BARS | FOR_TIMED, BY(settings_producers)},
        {"per-producer", "auto|N", "requests per producer and round (auto)", FOR_RUN | FOR_SAMPLE,
                WHOLE(per_producer, 1, 1u << 30, "auto")},
        {"samples", "N", "samples per cell; a sample is a process (7; latency: 5)",
                FOR_RUN | FOR_BARS | FOR_LATENCY, WHOLE(samples, 1, 10000, NULL)},
        {"until", "P%",
                "more samples of the noisiest cells until each interval's half is within "
                "P % of its median",
                FOR_RUN, PERCENT(until, 0.1, 100)},
        {"budget", "TIME", "with --until, at most so long (10m); else: no new sample after it",
                FOR_RUN | FOR_LATENCY, BY(set_budget)},
        {"min-time", "S", "a sample repeats rounds until so much submit time (0.2)", FOR_ANY,
                DECIMAL(min_time_s, 0.001, 3600, "seconds")},
        {"max-sample", "S", "… or so much wall time, drains included (1)", FOR_ANY,
                DECIMAL(max_sample_s, 0.001, 3600, "seconds")},
        {"deadline", "S",
                "a longer sample is killed: status hang (20 + 10 x max-sample; latency: duration)",
                FOR_ANY | FOR_TIMED, DECIMAL(deadline_s, 0.1, 36000, "seconds")},
        {"rate", "auto|R[,R…]",
                "requests per second, all producers together (auto: rises to saturation)",
                FOR_TIMED, BY(set_rates)},
        {"arrivals", "poisson|fixed", "the gaps between intended submits (poisson)", FOR_TIMED,
                CHOICE(fixed_arrivals, "poisson|fixed")},
        {"closed", NULL,
                "each producer waits for its callback, then submits: no rate, and labelled so",
                FOR_TIMED, FLAG(closed)},
        {"duration", "S", "of a sample's measured part (1)", FOR_TIMED,
                DECIMAL(duration_s, 0.05, 3600, "seconds")},
        {"stall-ms", "N", "the handler stops once for so long, in the middle of a sample (0)",
                FOR_TIMED, WHOLE(stall_ms, 0, 10000, NULL)},
        {"think-ns", "N", "a producer's work between submits (0)", FOR_ANY,
                WHOLE(think_ns, 0, 1e9, NULL)},
        {"handler-ns", "N", "the handler's work per request (0)", FOR_ANY | FOR_TIMED,
                WHOLE(handler_ns, 0, 1e9, NULL)},
        {"poll-ms", "N", "fallback poll of the FFI thread, 0: off (100)", FOR_ANY | FOR_TIMED,
                WHOLE(poll_ms, 0, 60000, NULL)},
        {"on-full", "retry|drop", "what a producer does when the queue is full (retry)",
                FOR_ANY | FOR_TIMED, CHOICE(drop_on_full, "retry|drop")},
        {"check", "on|off", "exactly-once and order of every request (on)", FOR_ANY,
                CHOICE(no_check, "on|off")},
        {"max-backlog", "BYTES", "memory of a round's requests (256M)", FOR_ANY | FOR_TIMED,
                BY(set_max_backlog)},
        {"pin", "none|compact|scatter", "where threads run (none)", FOR_ANY | FOR_TIMED,
                CHOICE(pin, "none|compact|scatter")},
        {"pin-required", NULL, "a thread that can't be pinned refuses its sample",
                FOR_ANY | FOR_TIMED, FLAG(pin_required)},
        {"cores", "fast|slow|all", "the cores to run on where a machine has several kinds (fast)",
                FOR_CELLS, CHOICE(cores, "fast|slow|all")},
        {"cpus", "N[,N…]", "CPUs to pin to, the FFI thread's first",
                FOR_SAMPLE | FOR_LATENCY_SAMPLE, BY(set_cpus)},
        {"seed", "N", "of the order of the cells, and of random arrivals and resampling (1)",
                FOR_CELLS | FOR_LATENCY_SAMPLE | FOR_VERDICT | FOR_COMPARE,
                WHOLE(seed, 0, UINT32_MAX, NULL)},
        {"aa", NULL, "each cell twice, as if it were two: what difference this machine can tell",
                FOR_RUN, FLAG(aa)},
        {"twin-program", "FILE", "with --aa: another build of fanin for the second of each pair",
                FOR_RUN, TEXT(twin_program)},
        {"explain", NULL,
                "where a submit's time goes: the cell beside itself without wake, allocator, queue",
                FOR_RUN, FLAG(explain)},
        {"tolerance", "P%", "a change of at most P % is no regression (10%)", FOR_COMPARE,
                PERCENT(tolerance, 0.1, 90)},
        {"strict", NULL, "exit 1 if something that disturbs measurements could be fixed",
                FOR_DOCTOR, FLAG(strict)},
        {"format", "table|csv|json", "what stdout gets (table)", FOR_RUN | FOR_VERDICT,
                CHOICE(format, "table|csv|json")},
        {"out", "DIR", "also writes a run directory; it must not exist",
                FOR_RUN | FOR_BARS | FOR_LATENCY, TEXT(out)},
        {"resume", "DIR", "goes on with an interrupted run: only what is missing, no other option",
                FOR_RUN, TEXT(resume)},
        {"quick", NULL, "marks the run as a quick one", FOR_RUN | FOR_BARS | FOR_LATENCY,
                FLAG(quick)},
        {"min-share", "X", "of the `private` ceiling's rate at the last count (0.1)", FOR_GATE,
                DECIMAL(min_share, 0, 1, "a share")},
        {"help", NULL, "this", ~0u, BY(NULL)},
};

enum { ROWS = sizeof rows / sizeof *rows };

static void print_help(enum settings_use use)
{
        fputs(settings_introduction(use), stdout);
        for (unsigned i = 0; i < ROWS; i++) {
                char option[64];
                if (!(rows[i].uses & use))
                        continue;
                snprintf(option, sizeof option, "--%s %s", rows[i].name,
                        rows[i].argument ? rows[i].argument : "");
                printf("  %-28s %s\n", option, rows[i].help);
        }
        if (use == FOR_SAMPLE || use == FOR_LATENCY_SAMPLE)
                puts("\nexit: 0 the row was printed, whatever its status; 2 usage");
        else
                puts("\nexit: 0 done, 1 a gate or check failed, 2 usage, 3 inconclusive, 4 a "
                     "correctness\n"
                     "rule broken (lost, doubled, disordered, lost wake), 130 interrupted");
}

/* "5%" or "5". */
static double percent(const char *name, const char *value, const struct option_row *row)
{
        char text[32];
        size_t length = strlen(value);
        bool marked = length && value[length - 1] == '%';
        snprintf(text, sizeof text, "%.*s", (int)(length - marked), value);
        char *end;
        double number = strtod(text, &end);
        if (*text < '0' || *text > '9' || *end || length >= sizeof text ||
                !(number >= row->min && number <= row->max))
                die("%s can't be '%s'; allowed: percent from %g%% to %g%%", name, value, row->min,
                        row->max);
        return number / 100;
}

static void set(struct settings *settings, enum settings_use use, const struct option_row *row,
        const char *value)
{
        char name[32];
        void *field = (char *)settings + row->offset;
        snprintf(name, sizeof name, "--%s", row->name);
        switch (row->how) {
        case HOW_WHOLE:
                *(unsigned *)field = row->what && !strcmp(value, row->what)
                                             ? 0
                                             : settings_number(name, value, (unsigned)row->min,
                                                       (unsigned)row->max);
                break;
        case HOW_DECIMAL:
                *(double *)field = decimal(name, value, row->what, row->min, row->max);
                break;
        case HOW_PERCENT:
                *(double *)field = percent(name, value, row);
                break;
        case HOW_CHOICE:
                *(unsigned *)field = choice(name, value, row->what);
                break;
        case HOW_FLAG:
                *(unsigned *)field = 1;
                break;
        case HOW_TEXT:
                *(const char **)field = value;
                break;
        case HOW_BY_SET:
                if (!row->set) {
                        print_help(use);
                        exit(EXIT_DONE);
                }
                row->set(settings, name, value);
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
                .min_share = 0.1,
                .tolerance = 0.1,
                .duration_s = 1,
        };
        settings_producers(settings, "--producers", "1,2,4,8");
}

static bool is(const struct option_row *row, const char *name)
{
        return !strcmp(row->name, name);
}

/* For the samples; what differs between them is the sweep's to say. */
static void forward(struct settings *settings, const struct option_row *row, const char *value)
{
        unsigned room = sizeof settings->forward / sizeof settings->forward[0];
        if (!(row->uses & (FOR_SAMPLE | FOR_LATENCY_SAMPLE)) || is(row, "config") ||
                is(row, "producers") || is(row, "per-producer") || is(row, "rate") ||
                is(row, "seed") || is(row, "help"))
                return;
        if (settings->forward_count == room)
                die("--%s can't be given here; allowed: %u such options", row->name, room);
        settings->forward[settings->forward_count++] = (struct settings_forward){row->name, value};
}

void settings_default(struct settings *settings, const char *name, const char *value)
{
        const struct option_row *row = rows;
        while (!is(row, name))
                row++;
        set(settings, FOR_RUN, row, value);
        forward(settings, row, value); /* given twice to a sample, the last counts */
}

/* `poll` looks every poll-ms, so 0 can't be honoured with it. */
static void check_together(const struct settings *settings, enum settings_use use)
{
        for (unsigned i = 0; i < settings->config_count; i++)
                if (settings->configs[i].wake == WAKE_POLL && !settings->poll_ms)
                        die("--poll-ms can't be '0' with the wake 'poll', which looks every "
                            "poll-ms; allowed: 1 to 60000");
        if (settings->twin_program && !settings->aa)
                die("--twin-program '%s' is for --aa; allowed: both, or neither",
                        settings->twin_program);
        if (settings->pin_required && settings->pin == PIN_NONE && !settings->cpu_count)
                die("--pin-required needs --pin; allowed: --pin compact or --pin scatter");
        if (use & (FOR_LATENCY | FOR_LATENCY_SAMPLE)) {
                if (settings->deadline_s < settings->duration_s * 2)
                        die("--deadline can't be '%g' with --duration %g; allowed: twice as much "
                            "or more",
                                settings->deadline_s, settings->duration_s);
                return;
        }
        if (settings->deadline_s < 2 * settings->max_sample_s)
                die("--deadline can't be '%g' with --max-sample %g; allowed: twice as much or "
                    "more, "
                    "for the warm-up may take as long",
                        settings->deadline_s, settings->max_sample_s);
}

/* What is not an option: paths, for the commands that take some. */
static void take_operands(struct settings *settings, enum settings_use use, int count, char **texts)
{
        unsigned wanted = use == FOR_VERDICT ? 1 : use == FOR_COMPARE ? 2 : 0;
        const char *command = use == FOR_VERDICT ? "verdict" : "compare";
        if (wanted && (unsigned)count != wanted)
                die("`fanin %s` takes %s, not %d operands; see its --help", command,
                        wanted == 1 ? "one run directory or CSV file" : "two run directories",
                        count);
        for (int i = 0; i < count && wanted; i++)
                settings->operands[settings->operand_count++] = texts[i];
}

void settings_parse(struct settings *settings, enum settings_use use, int argc, char **argv)
{
        /* Values of their own, above all characters: getopt then sees what is ambiguous. */
        enum { FIRST = 256 };
        struct option options[ROWS + 1] = {{0}};
        unsigned count = 0;
        for (unsigned i = 0; i < ROWS; i++)
                if (rows[i].uses & use)
                        options[count++] = (struct option){.name = rows[i].name,
                                .has_arg = rows[i].argument ? required_argument : no_argument,
                                .val = FIRST + (int)i};
        opterr = 0;
        optind = 0; /* from the start again: --resume parses a second line */
        for (int result; (result = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
                if (result == ':')
                        die("%s needs a value; see `fanin %s --help`", argv[optind - 1], argv[0]);
                if (result == '?' && optopt && optopt < FIRST)
                        die("-%c is not an option of `fanin %s`; see its --help", optopt, argv[0]);
                if (result == '?')
                        die("%s is not an option of `fanin %s`; see its --help", argv[optind - 1],
                                argv[0]);
                set(settings, use, &rows[result - FIRST], optarg);
                forward(settings, &rows[result - FIRST], optarg);
        }
        if (use & (FOR_VERDICT | FOR_COMPARE))
                take_operands(settings, use, argc - optind, argv + optind);
        else if (optind < argc)
                die("'%s' is not an option of `fanin %s`; see its --help", argv[optind], argv[0]);
        if (settings->resume && argc - 1 > 2)
                die("--resume '%s' takes no other option: the run directory has them",
                        settings->resume);
        if (settings->resume)
                return;
        if (!settings->config_count &&
                use & (FOR_RUN | FOR_SAMPLE | FOR_LATENCY | FOR_LATENCY_SAMPLE))
                die("--config is missing; see `fanin %s --help` and `fanin list`", argv[0]);
        if (settings->until > 0 && settings->budget_s <= 0)
                settings->budget_s = 600;
        if (settings->deadline_s <= 0)
                settings->deadline_s = use & (FOR_LATENCY | FOR_LATENCY_SAMPLE)
                                               ? 20 + 10 * settings->duration_s
                                               : 20 + 10 * settings->max_sample_s;
        check_together(settings, use);
}

void settings_free(struct settings *settings)
{
        free(settings->configs);
        free(settings->producers);
        free(settings->cpus);
        free(settings->rates_per_s);
}
