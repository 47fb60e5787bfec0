/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Goes on with a run directory. A run ends anywhere: its files may lack the end of their last line,
 * and the details of the sample under way may be there without its row, which is written last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "csv.h"
#include "machine.h"
#include "rundir.h"

static json_t *load_machine(const struct rundir *rundir)
{
        char why[512], *path = rundir_path(rundir, "machine.json");
        json_t *machine = machine_read(path, why, sizeof why);
        if (!machine)
                die("--resume can't be '%s': %s", rundir->path, why);
        free(path);
        return machine;
}

static char *path_without_slash(const char *path)
{
        char *copy = strcpy(must_allocate(strlen(path) + 1), path);
        for (size_t i = strlen(copy); i > 1 && copy[i - 1] == '/';)
                copy[--i] = '\0';
        return copy;
}

char **rundir_command(const char *path, int *argc)
{
        struct rundir rundir = {.path = path_without_slash(path)};
        json_t *machine = load_machine(&rundir);
        const json_t *words = json_object_get(machine, "command_line");
        size_t count = json_array_size(words);
        char **argv = must_allocate((count + 1) * sizeof *argv);
        for (size_t i = 0; i < count; i++) {
                const char *word = json_string_value(json_array_get(words, i));
                argv[i] = word ? strdup(word) : NULL;
                if (!argv[i])
                        die("--resume can't be '%s': word %zu of command_line in its "
                            "machine.json is not text",
                                path, i);
        }
        json_decref(machine);
        if (count < 2 || strcmp(argv[1], "run") != 0)
                die("--resume can't be '%s': it was not begun by `fanin run`", path);
        *argc = (int)count;
        free(rundir.path);
        return argv;
}

/* Rows of two machines or builds are two runs. */
static void check_same(const struct rundir *rundir, const json_t *now)
{
        static const char *const keys[] = {"commit", "dirty", "compiler", "compiler_flags",
                "hostname", "cpu_model", "cpus_effective"};
        json_t *then = load_machine(rundir);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                const json_t *a = json_object_get(then, keys[i]),
                             *b = json_object_get(now, keys[i]);
                if (json_equal(a, b))
                        continue;
                char *was = json_dumps(a, JSON_ENCODE_ANY), *is = json_dumps(b, JSON_ENCODE_ANY);
                json_decref(then);
                die("--resume can't be '%s': it was begun with %s %s, and this is %s; allowed: the "
                    "same machine and build",
                        rundir->path, keys[i], was ? was : "unknown", is ? is : "unknown");
        }
        json_decref(then);
}

/* Opens it for appending behind the last line that ends; begins it where not even the first does.
 */
static FILE *reopen(const struct rundir *rundir, const char *name, bool (*header)(FILE *))
{
        char *path = rundir_path(rundir, name);
        FILE *file = fopen(path, "a+e");
        long end = 0;
        if (file)
                rewind(file);
        for (int c; file && (c = getc(file)) != EOF;)
                end = c == '\n' ? ftell(file) : end;
        if (!file || ftruncate(fileno(file), end) || fseek(file, end, SEEK_SET) ||
                (!end && !header(file)))
                die("--resume can't be '%s': '%s' can't be written: %s", rundir->path, path,
                        strerror(errno));
        free(path);
        return file;
}

static bool has_row(
        const struct rows *rows, const struct csv *csv, unsigned line, const unsigned columns[4])
{
        for (unsigned i = rows->count; i--;) { /* the last are asked for */
                const struct row *row = &rows->rows[i];
                if (row->producers == strtoull(csv_field(csv, line, columns[1]), NULL, 10) &&
                        row->sample == strtoull(csv_field(csv, line, columns[2]), NULL, 10) &&
                        !strcmp(row->config, csv_field(csv, line, columns[0])) &&
                        !strcmp(row->twin, csv_field(csv, line, columns[3])))
                        return true;
        }
        return false;
}

/* Details at the end whose row was not written. */
static void cut_orphans(const struct rundir *rundir, const char *name, const struct rows *rows)
{
        static const char *const names[] = {"config", "producers", "sample", "twin"};
        char why[512], *path = rundir_path(rundir, name);
        unsigned columns[4];
        struct csv csv;
        if (!csv_read(&csv, path, why, sizeof why))
                die("%s", why);
        for (unsigned i = 0; i < 4; i++) {
                int column = csv_column(&csv, names[i], why, sizeof why);
                if (column < 0)
                        die("%s", why);
                columns[i] = (unsigned)column;
        }
        unsigned whole = csv.rows;
        while (whole && !has_row(rows, &csv, whole - 1, columns))
                whole--;
        /* A line begins at its first field. */
        if (whole < csv.rows && truncate(path, csv_field(&csv, whole, 0) - csv.text))
                die("--resume can't be '%s': '%s' can't be cut: %s", rundir->path, path,
                        strerror(errno));
        csv_free(&csv);
        free(path);
}

/* Killed before its first sample ended, it has none. */
static void read_rows(const struct rundir *rundir, struct rows *done)
{
        char why[512], *path = rundir_path(rundir, "samples.csv");
        struct csv csv;
        *done = (struct rows){NULL, 0};
        if (!csv_read(&csv, path, why, sizeof why))
                die("%s", why);
        bool empty = !csv.rows;
        csv_free(&csv);
        if (!empty && !rows_read(done, path, why, sizeof why))
                die("%s", why);
        free(path);
}

void rundir_reopen(
        struct rundir *rundir, const char *path, const json_t *machine, struct rows *done)
{
        *rundir = (struct rundir){.path = path_without_slash(path)};
        check_same(rundir, machine);
        char *log = rundir_path(rundir, "log");
        rundir->log = fopen(log, "ae");
        if (!rundir->log)
                die("--resume can't be '%s': '%s' can't be written: %s", path, log,
                        strerror(errno));
        free(log);
        rundir_lock(rundir);
        rundir->samples = reopen(rundir, "samples.csv", row_print_header);
        rundir->backlog = reopen(rundir, "backlog.csv", row_print_depths_header);
        rundir->producers = reopen(rundir, "producers.csv", row_print_producers_header);
        read_rows(rundir, done);
        cut_orphans(rundir, "backlog.csv", done);
        cut_orphans(rundir, "producers.csv", done);
        fseek(rundir->samples, 0, SEEK_END);
        rundir->whole_bytes = ftell(rundir->samples);
        rundir_log(rundir, "resumed after %u samples", done->count);
}
