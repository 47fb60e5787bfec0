/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Writes run directories. */
#include "rundir.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"

char *rundir_path(const struct rundir *rundir, const char *file)
{
        char *path = must_allocate(strlen(rundir->path) + strlen(file) + 2);
        sprintf(path, "%s/%s", rundir->path, file);
        return path;
}

/* What was begun goes again: a directory without a run in it is no use, and in the way. */
_Noreturn static void give_up(const struct rundir *rundir, const char *name, int error)
{
        static const char *const names[] = {
                "command", "machine.json", "log", "samples.csv", "backlog.csv", "producers.csv"};
        for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
                char *path = rundir_path(rundir, names[i]);
                unlink(path);
                free(path);
        }
        rmdir(rundir->path);
        die("--out: '%s/%s' can't be written: %s", rundir->path, name, strerror(error));
}

static FILE *open_file(const struct rundir *rundir, const char *name)
{
        char *path = rundir_path(rundir, name);
        FILE *file = fopen(path, "wxe");
        if (!file)
                give_up(rundir, name, errno);
        free(path);
        return file;
}

void rundir_lock(const struct rundir *rundir)
{
        if (flock(fileno(rundir->log), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
                die("--resume can't be '%s': another fanin is writing it", rundir->path);
}

/* So that a shell reads it back. */
static void print_quoted(FILE *file, const char *word)
{
        fputc('\'', file);
        for (; *word; word++)
                if (*word == '\'')
                        fputs("'\\''", file);
                else
                        fputc(*word, file);
        fputc('\'', file);
}

static void write_command(const struct rundir *rundir, int argc, char **argv)
{
        FILE *file = open_file(rundir, "command");
        for (int i = 0; i < argc; i++) {
                if (i)
                        fputc(' ', file);
                print_quoted(file, argv[i]);
        }
        fputc('\n', file);
        if (fclose(file))
                give_up(rundir, "command", errno);
}

void rundir_open(
        struct rundir *rundir, const char *path, const json_t *machine, int argc, char **argv)
{
        *rundir = (struct rundir){.path = NULL};
        if (!path)
                return;
        rundir->path = strdup(path);
        if (!rundir->path)
                die("no memory");
        for (size_t i = strlen(path); i > 1 && rundir->path[i - 1] == '/';)
                rundir->path[--i] = '\0';
        if (mkdir(path, 0777))
                die("--out can't be '%s': %s; allowed: a directory that does not exist yet, in "
                    "one that does",
                        path, strerror(errno));
        write_command(rundir, argc, argv);
        char *machine_path = rundir_path(rundir, "machine.json");
        int error = machine_write(machine_path, machine);
        if (error)
                give_up(rundir, "machine.json", -error);
        free(machine_path);
        rundir->log = open_file(rundir, "log");
        rundir_lock(rundir);
        rundir_log(rundir, "begun");
}

void rundir_open_samples(struct rundir *rundir)
{
        if (!rundir->path)
                return;
        rundir->samples = open_file(rundir, "samples.csv");
        rundir->backlog = open_file(rundir, "backlog.csv");
        rundir->producers = open_file(rundir, "producers.csv");
        if (!row_print_header(rundir->samples) || !row_print_depths_header(rundir->backlog) ||
                !row_print_producers_header(rundir->producers))
                give_up(rundir, "samples.csv", errno);
        rundir->whole_bytes = ftell(rundir->samples);
}

bool rundir_add(struct rundir *rundir, const struct row *row)
{
        if (!rundir->path)
                return true;
        /* The row last: details without a row are cut off when the run is resumed. */
        if (row_print_depths(rundir->backlog, row) && row_print_producers(rundir->producers, row) &&
                row_print(rundir->samples, row)) {
                rundir->whole_bytes = ftell(rundir->samples);
                return true;
        }
        fprintf(stderr,
                "fanin: '%s/samples.csv' or a file beside it can't be written: %s; it keeps the "
                "samples finished so far\n",
                rundir->path, strerror(errno));
        /* Half a line must not stay. Closing first: the stream may still hold the rest of it. */
        int fd = dup(fileno(rundir->samples));
        fclose(rundir->samples);
        rundir->samples = NULL;
        if (fd < 0 || ftruncate(fd, rundir->whole_bytes))
                fputs("fanin: its last line is not whole\n", stderr);
        if (fd >= 0)
                close(fd);
        return false;
}

void rundir_log(struct rundir *rundir, const char *format, ...)
{
        if (!rundir->log)
                return;
        char stamp[32];
        time_t now = time(NULL);
        struct tm utc;
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
        fprintf(rundir->log, "%s ", stamp);
        va_list arguments;
        va_start(arguments, format);
        vfprintf(rundir->log, format, arguments);
        va_end(arguments);
        fputc('\n', rundir->log);
        fflush(rundir->log);
}

FILE *rundir_file(const struct rundir *rundir, const char *name)
{
        if (!rundir->path)
                return NULL;
        char *path = rundir_path(rundir, name);
        FILE *file = fopen(path, "wxe");
        if (!file)
                fprintf(stderr, "fanin: '%s' can't be written: %s\n", path, strerror(errno));
        free(path);
        return file;
}

static bool write_summary(const struct rundir *rundir, const struct summary *summary)
{
        char *beside = rundir_path(rundir, "summary.csv.tmp"),
             *path = rundir_path(rundir, "summary.csv");
        FILE *file = fopen(beside, "we");
        bool done = file && summary_print_csv(file, summary);
        done = file && !fclose(file) && done && !rename(beside, path);
        if (!done) {
                fprintf(stderr, "fanin: '%s' can't be written: %s\n", path, strerror(errno));
                unlink(beside);
        }
        free(beside);
        free(path);
        return done;
}

static bool close_file(const struct rundir *rundir, const char *name, FILE *file)
{
        if (!file || !fclose(file))
                return true;
        fprintf(stderr, "fanin: '%s/%s' can't be written: %s\n", rundir->path, name,
                strerror(errno));
        return false;
}

bool rundir_close(struct rundir *rundir, const struct summary *summary)
{
        if (!rundir->path)
                return true;
        bool done = !summary || write_summary(rundir, summary);
        rundir_log(rundir, "ended");
        done &= close_file(rundir, "backlog.csv", rundir->backlog);
        done &= close_file(rundir, "producers.csv", rundir->producers);
        done &= close_file(rundir, "samples.csv", rundir->samples);
        fclose(rundir->log);
        free(rundir->path);
        return done;
}

const char *rundir_name(const struct rundir *rundir)
{
        if (!rundir->path)
                return "-";
        const char *name = strrchr(rundir->path, '/');
        return name ? name + 1 : rundir->path;
}
