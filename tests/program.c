/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The program as its user meets it: options and what it says to bad ones, what it prints and
 * writes, exit codes. What the rows say is published.c's, bad luck luck.c's, the gate gate.c's. */
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>

#include "../engine/registry.h"
#include "../experiments/cpus.h"
#include "../experiments/promises.h"
#include "../experiments/settings.h"
#include "run_program.h"

#define SMALL " --min-time 0.01 --max-sample 0.1 --per-producer 100"

static void test_help(void **state)
{
        (void)state;
        static const char *const lines[] = {"--help", "help", "list --help", "run --help",
                "gate --help", "bars --help", "sample --help", "latency --help",
                "latency-sample --help", "verdict --help", "compare --help", "doctor --help"};
        for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
                struct program program = {0};
                program_run(&program, lines[i]);
                assert_code(&program, EXIT_DONE);
                assert_contains(program.out, "usage: fanin");
                assert_contains(program.out, "\nexit: 0 ");
                assert_string_equal(program.err, "");
                program_free(&program);
        }
}

static void test_no_command(void **state)
{
        (void)state;
        struct program program = {0};
        program_run(&program, "");
        assert_code(&program, EXIT_USAGE);
        assert_contains(program.err, "usage: fanin COMMAND");
        assert_string_equal(program.out, "");
        program_free(&program);
}

/* One sentence on stderr that says each of the parts; nothing else happens. */
static void assert_refused(const char *environment, const char *line, const char *const parts[3])
{
        struct program program = {.environment = environment};
        program_run(&program, line);
        if (program.code != EXIT_USAGE)
                fail_msg("%s %s: exit %d: %s", environment ? environment : "", line, program.code,
                        program.err);
        assert_string_equal(program.out, "");
        assert_int_equal(strncmp(program.err, "fanin: ", 7), 0);
        if (strchr(program.err, '\n') != strrchr(program.err, '\n') || !strchr(program.err, '\n') ||
                strchr(program.err, '\n')[1])
                fail_msg("%s: not one line: %s", line, program.err);
        for (unsigned i = 0; i < 3 && parts[i]; i++)
                assert_contains(program.err, parts[i]);
        program_free(&program);
}

static void test_usage(void **state)
{
        (void)state;
        static const struct {
                const char *line, *parts[3];
        } cases[] = {
                {"fly", {"'fly'", "list, run, latency, verdict, compare, doctor, gate, bars"}},
                {"--fly", {"'--fly'", "list, run, latency, verdict, compare, doctor, gate, bars"}},
                {"run --fly", {"--fly", "--help"}},
                {"gate --out=x", {"--out", "--help"}},
                {"sample --format=csv", {"--format", "--help"}},
                {"run --quick=3", {"--quick", "--help"}},
                {"run --config mutex fly", {"'fly'", "--help"}},
                {"run --samples", {"--samples", "value", "--help"}},
                {"run", {"--config", "missing", "--help"}},
                {"sample", {"--config", "missing", "--help"}},
                {"sample --config mutex,vyukov --producers 1", {"one"}},
                {"sample --config mutex --producers 1,2", {"one"}},
                {"gate --config mutex,vyukov", {"--config", "one", "2"}},
                {"list fly", {"'fly'", "--format text|csv"}},
                {"list --format", {"--format", "text|csv"}},
                {"list --format xml", {"--format", "'xml'", "text|csv"}},
                {"list --format=", {"--format", "''", "text|csv"}},
                /* Abbreviated, one of several: which of them ran would be chance. */
                {"run --config mutex --samples 1 --max-sample 0.01 --m 0.02", {"--m"}},
                {"run --config mutex --samples 1 --max-sample 0.01 --p 3", {"--p"}},
        };
        for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
                assert_refused(NULL, cases[i].line, cases[i].parts);
}

static void test_bad_config(void **state)
{
        (void)state;
        static const struct {
                const char *config, *parts[3];
        } cases[] = {
                {"fly", {"queue", "'fly'", "vyukov"}},
                {"", {"queue", "''", "vyukov"}},
                {"mutex,,vyukov", {"queue", "''", "vyukov"}},
                {"mutex,", {"queue", "''", "vyukov"}},
                {"/edge", {"queue", "''", "vyukov"}},
                {"mutex:fly=1", {"'mutex'", "'fly'", "none"}},
                {"mutex:", {"'mutex'", "''", "none"}},
                {"sharded_mutex:fly=1", {"'sharded_mutex'", "'fly'", "shards"}},
                {"sharded_mutex:shards", {"'shards'", "''", "1 to 1024"}},
                {"sharded_mutex:shards=", {"'shards'", "''", "1 to 1024"}},
                {"sharded_mutex:shards=0", {"'shards'", "'0'", "1 to 1024"}},
                {"sharded_mutex:shards=1025", {"'shards'", "'1025'", "1 to 1024"}},
                {"sharded_mutex:shards=-1", {"'shards'", "'-1'", "1 to 1024"}},
                {"sharded_mutex:shards=4x", {"'shards'", "'4x'", "1 to 1024"}},
                {"sharded_mutex:shards=4:shards=8", {"'shards'", "twice"}},
                {"mutex/fly", {"wake", "'fly'", "every, edge, pending, flag, asym"}},
                {"mutex/", {"wake", "''", "every, edge, pending, flag, asym"}},
                {"mutex/edge/fly",
                        {"signal", "'fly'", "eventfd, futex, condvar, pipe, socketpair"}},
                {"mutex/edge/eventfd/fly", {"alloc", "'fly'", "malloc, slab"}},
                {"mutex/edge/eventfd/slab/fly", {"mutex/edge/eventfd/slab/fly", "four", "queue["}},
                {"faa/edge", {"'edge'", "'faa'", "every, pending, flag, asym"}},
                {"handshake/poll", {"'poll'", "'handshake'", "every, edge, pending, flag, asym"}},
                {"mutex/edge/none", {"'none'", "'edge'", "eventfd"}},
                {"mutex/poll/eventfd", {"'eventfd'", "'poll'", "none"}},
                {"mutex,mutex", {"'mutex'", "twice"}},
                /* The same, spelled otherwise. */
                {"mutex,mutex/pending/eventfd", {"'mutex/pending/eventfd'", "twice"}},
                {"reference,vyukov/every", {"'vyukov/every'", "twice"}},
        };
        static const char *const commands[] = {"run", "gate", "sample --producers 1"};
        for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                char line[256];
                snprintf(line, sizeof line, "%s --config=%s", commands[i % 3], cases[i].config);
                assert_refused(NULL, line, cases[i].parts);
                snprintf(line, sizeof line, "run --config=%s", cases[i].config);
                assert_refused(NULL, line, (const char *const[3]){"--config"});
        }
}

static void test_bad_value(void **state)
{
        (void)state;
        static const struct {
                const char *option, *value, *allowed;
        } cases[] = {
                {"--producers", "0", "1 to 4096"},
                {"--producers", "-1", "1 to 4096"},
                {"--producers", "x", "1 to 4096"},
                {"--producers", "4097", "1 to 4096"},
                {"--producers", "99999999999999999999", "1 to 4096"},
                {"--producers", "", "1 to 4096"},
                {"--per-producer", "0", "1 to"},
                {"--per-producer", "fast", "1 to"},
                {"--samples", "0", "1 to 10000"},
                {"--samples", "1.5", "1 to 10000"},
                {"--min-time", "nan", "0.001 to 3600"},
                {"--min-time", "-1", "0.001 to 3600"},
                {"--min-time", "1e9", "0.001 to 3600"},
                {"--min-time", "", "0.001 to 3600"},
                {"--min-time", "0", "0.001 to 3600"},
                {"--min-time", "0,2", "0.001 to 3600"},
                {"--min-time", "inf", "0.001 to 3600"},
                {"--max-sample", "1h", "0.001 to 3600"},
                {"--deadline", "0", "0.1 to 36000"},
                {"--think-ns", "-1", "0 to"},
                {"--handler-ns", "1us", "0 to"},
                {"--poll-ms", "60001", "0 to 60000"},
                {"--on-full", "panic", "retry|drop"},
                {"--check", "", "on|off"},
                {"--max-backlog", "0", "bytes, with K, M or G"},
                {"--max-backlog", "12Q", "bytes, with K, M or G"},
                {"--max-backlog", "12MB", "bytes, with K, M or G"},
                {"--max-backlog", "99999999999G", "bytes, with K, M or G"},
                {"--pin", "sideways", "none|compact|scatter"},
                {"--seed", "-1", "0 to"},
                {"--format", "xml", "table|csv|json"},
                {"--until", "0%", "0.1% to 100%"},
                {"--until", "101%", "0.1% to 100%"},
                {"--until", "5%%", "0.1% to 100%"},
                {"--until", "", "0.1% to 100%"},
                {"--until", "nan", "0.1% to 100%"},
                {"--budget", "0", "1s to"},
                {"--budget", "10x", "1s to"},
                {"--budget", "10mm", "1s to"},
                {"--budget", "-1", "1s to"},
                {"--budget", "1e9h", "1s to"},
                {"--cores", "medium", "fast|slow|all"},
        };
        for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                char line[256], value[64];
                snprintf(line, sizeof line, "run --config mutex %s=%s", cases[i].option,
                        cases[i].value);
                snprintf(value, sizeof value, "'%s'", cases[i].value);
                assert_refused(NULL, line,
                        (const char *const[3]){cases[i].option, value, cases[i].allowed});
        }
        assert_refused(NULL, "run --config mutex --producers 1,",
                (const char *const[3]){"--producers", "''", "1 to 4096"});
        assert_refused(NULL, "run --config mutex --producers 2,1,2",
                (const char *const[3]){"--producers", "2", "twice"});
        assert_refused(NULL, "run --config mutex,vyukov/poll --poll-ms 0",
                (const char *const[3]){"--poll-ms", "'0'", "1 to 60000"});
        assert_refused(NULL, "run --config mutex --pin-required",
                (const char *const[3]){"--pin-required", "--pin", "compact"});
        assert_refused(
                NULL, "gate --min-share 2", (const char *const[3]){"--min-share", "'2'", "0 to 1"});
        assert_refused(NULL, "sample --config mutex --producers 1 --cpus 8192",
                (const char *const[3]){"--cpus", "'8192'", "0 to 8191"});
}

static void test_bad_value_elsewhere(void **state)
{
        (void)state;
        static const struct {
                const char *line, *parts[3];
        } others[] = {
                {"latency --config mutex --rate 0", {"--rate", "'0'", "1 to"}},
                {"latency --config mutex --rate 10,x", {"--rate", "'x'", "1 to"}},
                {"latency --config mutex --arrivals bursts", {"--arrivals", "'bursts'", "poisson"}},
                {"latency --config mutex --duration 0", {"--duration", "'0'", "0.05 to"}},
                {"latency --config mutex --stall-ms x", {"--stall-ms", "'x'", "0 to"}},
                {"latency --config mutex --deadline 1 --duration 1",
                        {"--deadline", "'1'", "twice"}},
                {"compare a b --tolerance 91%", {"--tolerance", "'91%'", "90%"}},
                {"compare a", {"compare", "two run directories", "1"}},
                {"verdict", {"verdict", "one run directory or CSV file", "0"}},
                {"verdict a b", {"verdict", "one run directory or CSV file", "2"}},
                {"doctor now", {"'now'", "doctor", "--help"}},
        };
        for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
                assert_refused(NULL, others[i].line, others[i].parts);
}

static void test_share_is_no_time(void **state)
{
        (void)state;
        struct program program = {0};
        program_run(&program, "gate --min-share 2");
        assert_null(strstr(program.err, "seconds"));
        program_free(&program);
}

static void test_bad_environment(void **state)
{
        (void)state;
        static const struct {
                const char *environment, *parts[3];
        } cases[] = {
                {"FFI_SUBMIT_ITERS=0", {"FFI_SUBMIT_ITERS", "'0'", "1 to 10000"}},
                {"FFI_SUBMIT_ITERS=many", {"FFI_SUBMIT_ITERS", "'many'", "1 to 10000"}},
                {"FFI_SUBMIT_PER_THREAD=-5", {"FFI_SUBMIT_PER_THREAD", "'-5'", "1 to"}},
                {"FFI_SUBMIT_THREADS=1", {"FFI_SUBMIT_THREADS", "'1'", "two"}},
                {"FFI_SUBMIT_THREADS=1,x", {"FFI_SUBMIT_THREADS", "'x'", "1 to 4096"}},
                {"FFI_SUBMIT_THREADS=4,4", {"FFI_SUBMIT_THREADS", "4", "twice"}},
                {"FFI_SUBMIT_THREADS=0,4", {"FFI_SUBMIT_THREADS", "'0'", "1 to 4096"}},
                {"FFI_SCALING_GATE=maybe", {"FFI_SCALING_GATE", "'maybe'", "0 to 1"}},
                {"FFI_SCALING_GATE=2", {"FFI_SCALING_GATE", "'2'", "0 to 1"}},
        };
        for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
                assert_refused(cases[i].environment, "gate", cases[i].parts);
}

static unsigned registered(void)
{
        unsigned count = 0;
        while (registry_at(count))
                count++;
        return count;
}

static void test_list(void **state)
{
        (void)state;
        struct program text = {0}, program = {0};
        program_run(&text, "list");
        assert_code(&text, EXIT_DONE);
        program_run(&program, "list --format csv");
        assert_code(&program, EXIT_DONE);
        struct sheet csv = sheet_parse(program.out);
        assert_true(csv.rows >= registered());
        for (unsigned i = 0; i < csv.rows; i++) {
                const struct queue_ops *ops = registry_at(i);
                assert_contains(text.out, sheet_text(&csv, i, "queue"));
                if (i >= registered()) { /* left out, with the reason */
                        assert_string_not_equal(sheet_text(&csv, i, "left_out"), "no");
                        assert_contains(text.out, sheet_text(&csv, i, "left_out"));
                        continue;
                }
                const unsigned traits = promises_of(ops).traits;
                assert_string_equal(sheet_text(&csv, i, "queue"), ops->name);
                assert_string_equal(sheet_text(&csv, i, "summary"), ops->summary);
                assert_string_equal(sheet_text(&csv, i, "source"), ops->source);
                assert_string_equal(sheet_text(&csv, i, "left_out"), "no");
                assert_string_equal(
                        sheet_text(&csv, i, "sees_edge"), traits & QUEUE_SEES_EDGE ? "yes" : "no");
                assert_string_equal(
                        sheet_text(&csv, i, "may_stall"), traits & QUEUE_MAY_STALL ? "yes" : "no");
                assert_string_equal(
                        sheet_text(&csv, i, "bounded"), traits & QUEUE_BOUNDED ? "yes" : "no");
                assert_contains(sheet_text(&csv, i, "order"), traits & QUEUE_FIFO_GLOBAL ? "global"
                                                              : traits & QUEUE_FIFO_PRODUCER
                                                                      ? "per-producer"
                                                                      : "none");
                for (const struct queue_key *key = ops->keys; key && key->name; key++)
                        assert_contains(text.out, key->name);
        }
        sheet_free(&csv);
        program.out = NULL;
        program_free(&program);
        program_free(&text);
}

static void test_nothing_is_written(void **state)
{
        (void)state;
        static const char *const lines[] = {"list", "run --config mutex" QUICKLY,
                "run --config mutex --format csv" QUICKLY,
                "run --config mutex --format json" QUICKLY,
                "sample --config mutex --producers 2" QUICKLY};
        for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
                struct program program = {0};
                program_run(&program, lines[i]);
                assert_code(&program, EXIT_DONE);
                assert_string_equal(program.err, "");
                program_free(&program);
        }
        assert_int_equal(count_files(".", ""), 0);
}

static void assert_close(const char *what, double value, double expected)
{
        if (!(fabs(value - expected) <= 1e-5 * fabs(expected)))
                fail_msg("%s is %.9g, expected %.9g", what, value, expected);
}

/* One cell of the JSON beside the same one of the CSV. */
static void assert_same_cell(const json_t *cell, const struct sheet *csv, unsigned row)
{
        const char *key;
        json_t *value, *object = json_deep_copy(cell);
        assert_int_equal(json_object_size(cell), csv->columns);
        json_object_foreach(object, key, value)
        {
                const char *text = sheet_text(csv, row, key);
                if (json_is_null(value))
                        assert_string_equal(text, "NA");
                else if (json_is_string(value))
                        assert_string_equal(text, json_string_value(value));
                else if (json_is_boolean(value))
                        assert_string_equal(text, json_is_true(value) ? "yes" : "no");
                else
                        assert_close(key, json_number_value(value), sheet_number(csv, row, key));
        }
        json_decref(object);
}

#define FOUR_CELLS "run --config mutex/edge,vyukov/edge --producers 2,4 --samples 3 --out d" SMALL

/* The line of the table with this cell's producers, below the heading of its configuration. */
static void assert_in_table(const char *table, const struct sheet *csv, unsigned row)
{
        static const char *const columns[] = {
                "submit_per_s_median", "submit_per_s_lo", "submit_per_s_hi"};
        double printed[3] = {0};
        unsigned producers;
        const char *at = strstr(table, sheet_text(csv, row, "config"));
        for (; at; at = strchr(at + 1, '\n'))
                if (sscanf(at, "%u %lf [ %lf, %lf]", &producers, &printed[0], &printed[1],
                            &printed[2]) == 4 &&
                        producers == sheet_number(csv, row, "producers"))
                        break;
        if (!at)
                fail_msg("%s is not in: %s", sheet_text(csv, row, "config"), table);
        for (unsigned i = 0; i < 3; i++)
                if (!(fabs(printed[i] - sheet_number(csv, row, columns[i]) / 1e6) <= 2e-4))
                        fail_msg("%s is %g, the table says %g M/s", columns[i],
                                sheet_number(csv, row, columns[i]), printed[i]);
}

static void test_table_is_the_summary(void **state)
{
        (void)state;
        struct program program = {0};
        program_run(&program, FOUR_CELLS " --format table");
        assert_code(&program, EXIT_DONE);
        struct sheet csv = sheet_read("d/summary.csv");
        assert_int_equal(csv.rows, 4);
        for (unsigned i = 0; i < csv.rows; i++) {
                assert_in_table(program.out, &csv, i);
                assert_string_equal(sheet_text(&csv, i, "vs_1_producer"), "NA"); /* none was run */
        }
        sheet_free(&csv);
        program_free(&program);
}

static void test_csv_is_the_summary(void **state)
{
        (void)state;
        struct program program = {0};
        program_run(&program, FOUR_CELLS " --format csv");
        assert_code(&program, EXIT_DONE);
        char *file = file_read("d/summary.csv");
        assert_non_null(file);
        assert_string_equal(program.out, file);
        free(file);
        program_free(&program);
}

static void test_json_is_the_summary(void **state)
{
        (void)state;
        struct program program = {0};
        program_run(&program, FOUR_CELLS " --format json");
        assert_code(&program, EXIT_DONE);
        struct sheet csv = sheet_read("d/summary.csv");
        json_error_t error;
        json_t *cells = json_loads(program.out, 0, &error);
        if (!cells)
                fail_msg("line %d: %s", error.line, error.text);
        assert_int_equal(json_array_size(cells), csv.rows);
        for (unsigned i = 0; i < csv.rows; i++)
                assert_same_cell(json_array_get(cells, i), &csv, i);
        json_decref(cells);
        sheet_free(&csv);
        program_free(&program);
}

static void assert_machine_described(const char *path)
{
        static const char *const keys[] = {"cpu_model", "topology", "cpus_effective", "kernel",
                "governor", "smt", "clock_source", "compiler", "compiler_flags", "libraries",
                "commit", "dirty", "command_line"};
        json_error_t error;
        json_t *machine = json_load_file(path, 0, &error);
        if (!machine)
                fail_msg("line %d: %s", error.line, error.text);
        for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++)
                if (!json_object_get(machine, keys[i]))
                        fail_msg("machine.json has no %s", keys[i]);
        assert_int_equal(
                json_integer_value(json_object_get(machine, "cpus_effective")), cpus_effective());
        json_decref(machine);
}

/* A row by itself: which run, which configuration, all of its settings. */
static void assert_self_describing(const struct sheet *csv, unsigned row)
{
        static const struct {
                const char *column, *text;
        } expected[] = {{"run", "d"}, {"kind", "measured"}, {"status", "ok"}, {"seed", "7"},
                {"pinned", "none"}, {"think_ns", "10"}, {"handler_ns", "20"}, {"poll_ms", "50"},
                {"per_producer", "100"}, {"on_full", "retry"}, {"check", "on"}};
        char why[256];
        struct spec spec;
        for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++)
                assert_string_equal(sheet_text(csv, row, expected[i].column), expected[i].text);
        if (!spec_parse(sheet_text(csv, row, "config"), &spec, why, sizeof why))
                fail_msg("%s", why);
        assert_string_equal(sheet_text(csv, row, "queue"), spec.queue->name);
        assert_string_equal(sheet_text(csv, row, "wake"), wake_policies[spec.wake].name);
        assert_string_equal(sheet_text(csv, row, "signal"), spec.signal->name);
        assert_string_equal(sheet_text(csv, row, "alloc"), spec_alloc_names[spec.alloc]);
        assert_string_equal(
                sheet_text(csv, row, "shards"), spec_value(&spec, "shards") < 0 ? "NA" : "3");
}

static void test_run_directory(void **state)
{
        (void)state;
        static const char *const files[] = {"d/command", "d/machine.json", "d/samples.csv",
                "d/backlog.csv", "d/producers.csv", "d/summary.csv", "d/log"};
        static const char *const columns[] = {"config", "queue", "wake", "signal", "alloc",
                "shards", "producers", "sample", "status", "submits", "refused", "submit_ns",
                "submit_per_s", "complete_ns", "complete_per_s", "producer_cpu_ns", "overlap",
                "wakes", "wakes_elided", "late_wakes", "lost_wakes", "stalls", "stalled_ns",
                "backlog_peak", "fairness_jain", "run", "kind", "per_producer", "rounds", "seed",
                "pinned", "think_ns", "handler_ns", "poll_ms"};
        static const char *const summary_columns[] = {"config", "producers", "samples",
                "submit_per_s_median", "submit_per_s_lo", "submit_per_s_hi", "vs_1_producer",
                "complete_per_s_median", "wakes_per_submit"};
        struct program program = {0};
        program_run(&program,
                "run --config sharded_mutex:shards=3/flag/pipe/slab,faa --producers 1,3 "
                "--samples 2 --think-ns 10 --handler-ns 20 --poll-ms 50 --seed 7 --out d" SMALL);
        assert_code(&program, EXIT_DONE);
        for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++)
                assert_int_equal(access(files[i], R_OK), 0);
        assert_int_equal(count_files("d", ""), sizeof files / sizeof files[0]);
        assert_machine_described("d/machine.json");
        struct sheet samples = sheet_read("d/samples.csv"), summary = sheet_read("d/summary.csv");
        for (unsigned i = 0; i < sizeof columns / sizeof columns[0]; i++)
                sheet_text(&samples, 0, columns[i]);
        for (unsigned i = 0; i < sizeof summary_columns / sizeof summary_columns[0]; i++)
                sheet_text(&summary, 0, summary_columns[i]);
        assert_int_equal(samples.rows, 2 * 2 * 2);
        for (unsigned i = 0; i < samples.rows; i++)
                assert_self_describing(&samples, i);
        assert_int_equal(summary.rows, 2 * 2);
        for (unsigned i = 0; i < summary.rows; i++)
                assert_string_equal(sheet_text(&summary, i, "samples"), "2");
        char *command = file_read("d/command"), *log = file_read("d/log");
        assert_contains(command, " 'run' '--config' 'sharded_mutex:shards=3/flag/pipe/slab,faa'");
        assert_contains(log, "begun");
        assert_contains(log, "ended");
        free(command);
        free(log);
        sheet_free(&samples);
        sheet_free(&summary);
        program_free(&program);
}

static void test_run_is_the_directory_s_name(void **state)
{
        (void)state;
        struct program program = {0};
        assert_int_equal(mkdir("runs", 0700), 0);
        program_run(&program, "run --config mutex --samples 1 --out runs/mine/" QUICKLY);
        assert_code(&program, EXIT_DONE);
        struct sheet csv = sheet_read("runs/mine/samples.csv");
        assert_string_equal(sheet_text(&csv, 0, "run"), "mine");
        sheet_free(&csv);
        program_free(&program);
}

static void test_bad_directory(void **state)
{
        (void)state;
        static const char *const bad[] = {"there", "file", "link", "missing/d", "file/d", ""};
        char line[256], value[64];
        assert_int_equal(mkdir("there", 0700), 0);
        assert_int_equal(close(open("file", O_CREAT | O_WRONLY, 0600)), 0);
        assert_int_equal(symlink("nowhere", "link"), 0);
        for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
                snprintf(line, sizeof line, "run --config mutex --out=%s", bad[i]);
                snprintf(value, sizeof value, "'%s'", bad[i]);
                assert_refused(NULL, line, (const char *const[3]){"--out", value, "not exist"});
        }
        assert_int_equal(count_files("there", ""), 0);
        assert_int_equal(count_files(".", ""), 3);
        if (geteuid()) { /* root may write anywhere */
                assert_int_equal(chmod("there", 0500), 0);
                assert_refused(NULL, "run --config mutex --out there/d",
                        (const char *const[3]){"--out", "'there/d'", "Permission"});
        }
}

/* German, if the machine has or can make it: decimal commas. */
static const char *german_environment(void)
{
        static char environment[256];
        pid_t pid = fork();
        if (!pid) {
                int null = open("/dev/null", O_WRONLY);
                dup2(null, STDOUT_FILENO);
                dup2(null, STDERR_FILENO);
                execlp("localedef", "localedef", "-i", "de_DE", "-f", "UTF-8", "./de_DE.UTF-8",
                        (char *)NULL);
                _exit(1);
        }
        waitpid(pid, NULL, 0);
        snprintf(environment, sizeof environment, "LC_ALL=de_DE.UTF-8 LOCPATH=%s", scratch);
        if (access("de_DE.UTF-8", R_OK))
                strcpy(strchr(environment, ' '), ""); /* perhaps the system has it */
        return environment;
}

static void test_locale(void **state)
{
        (void)state;
        const char *environment = german_environment();
        struct program table = {.environment = environment}, json = {.environment = environment};
        program_run(&table, "run --config mutex --producers 1 --samples 2 --out d" SMALL);
        assert_code(&table, EXIT_DONE);
        program_run(&json, "run --config mutex --producers 1 --samples 2 --format json" SMALL);
        assert_code(&json, EXIT_DONE);
        struct sheet samples = sheet_read("d/samples.csv"), summary = sheet_read("d/summary.csv");
        for (unsigned i = 0; i < samples.rows; i++)
                assert_true(sheet_number(&samples, i, "submit_per_s") > 0);
        sheet_number(&summary, 0, "submit_per_s_median");
        assert_contains(sheet_text(&summary, 0, "coverage"), "0.5");
        assert_contains(table.out, "1.00x");
        json_t *cells = json_loads(json.out, 0, NULL);
        assert_non_null(cells);
        assert_true(json_number_value(json_object_get(json_array_get(cells, 0), "coverage")) == .5);
        json_decref(cells);
        sheet_free(&samples);
        sheet_free(&summary);
        program_free(&table);
        program_free(&json);
}

/* The cells in the order they ran, as one text that the caller frees. */
static char *run_order(const char *out, unsigned seed)
{
        char line[256], path[64], *order = NULL;
        size_t bytes;
        struct program program = {0};
        snprintf(line, sizeof line,
                "run --config mutex,vyukov,faa --producers 1,2,3 --samples 2 --seed %u "
                "--out %s" QUICKLY,
                seed, out);
        program_run(&program, line);
        assert_code(&program, EXIT_DONE);
        program_free(&program);
        snprintf(path, sizeof path, "%s/samples.csv", out);
        struct sheet csv = sheet_read(path);
        FILE *file = open_memstream(&order, &bytes);
        for (unsigned i = 0; i < csv.rows; i++)
                fprintf(file, "%s %s %s\n", sheet_text(&csv, i, "config"),
                        sheet_text(&csv, i, "producers"), sheet_text(&csv, i, "sample"));
        fclose(file);
        sheet_free(&csv);
        return order;
}

static void test_seed_gives_the_order(void **state)
{
        (void)state;
        char *first = run_order("a", 1), *again = run_order("b", 1), *other = run_order("c", 2);
        assert_string_equal(first, again);
        assert_string_not_equal(first, other);
        free(first);
        free(again);
        free(other);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCRATCH_TEST(test_help),
                SCRATCH_TEST(test_no_command),
                SCRATCH_TEST(test_usage),
                SCRATCH_TEST(test_bad_config),
                SCRATCH_TEST(test_bad_value),
                SCRATCH_TEST(test_bad_value_elsewhere),
                SCRATCH_TEST(test_share_is_no_time),
                SCRATCH_TEST(test_bad_environment),
                SCRATCH_TEST(test_list),
                SCRATCH_TEST(test_nothing_is_written),
                SCRATCH_TEST(test_table_is_the_summary),
                SCRATCH_TEST(test_csv_is_the_summary),
                SCRATCH_TEST(test_json_is_the_summary),
                SCRATCH_TEST(test_run_directory),
                SCRATCH_TEST(test_run_is_the_directory_s_name),
                SCRATCH_TEST(test_bad_directory),
                SCRATCH_TEST(test_locale),
                SCRATCH_TEST(test_seed_gives_the_order),
        };
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
