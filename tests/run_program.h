/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Runs the built program as a user does, in a scratch directory, under a deadline, and reads what
 * it printed and wrote. For test programs whose main thread is their only one.
 */
#ifndef FANIN_RUN_PROGRAM_H
#define FANIN_RUN_PROGRAM_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../experiments/clock.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
enum { UNDER_TSAN = 1, UNDER_ASAN = 0, SLOWER = 10 };
#elif defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { UNDER_TSAN = 0, UNDER_ASAN = 1, SLOWER = 10 };
#else
enum { UNDER_TSAN = 0, UNDER_ASAN = 0, SLOWER = 1 };
#endif

enum { WORDS = 40, DEADLINE_S = 30 * SLOWER };

struct program {
        /* before program_start; zero: the program as it is, in this process's environment */
        bool broken;             /* the one with the broken backends */
        const char *environment; /* "NAME=value NAME=value" */
        void (*before_exec)(void);
        /* after it */
        pid_t pid; /* and its process group */
        int out_fd, err_fd;
        /* after program_finish */
        char *out, *err;
        int code; /* 128 + its number: a signal */
};

/* Started and not finished: ended with its test. */
static pid_t program_running;

/* The directory of this test program: the broken program is in it, the whole one above it. */
static inline int program_open(bool broken)
{
        char path[4096];
        ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 32);
        assert_true(bytes > 0);
        path[bytes] = '\0';
        strcpy(strrchr(path, '/'), broken ? "/fanin_broken" : "/../fanin");
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                fail_msg("%s: %s", path, strerror(errno));
        return fd;
}

/* Adds the words of text, which it changes; the list ends with a NULL. */
static inline void program_split(char *text, char *words[WORDS], unsigned count)
{
        char *save;
        for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
                assert_true(count + 1 < WORDS);
                words[count++] = word;
        }
        words[count] = NULL;
}

/* Starts the program with the words of line as arguments; "": none. */
static inline void program_start(struct program *program, const char *line)
{
        char name[] = "fanin", *copy = strdup(line), *words[WORDS] = {name};
        char *set = strdup(program->environment ? program->environment : "");
        char *variables[WORDS];
        int exe = program_open(program->broken), out[2] = {-1, -1}, err[2] = {-1, -1};
        assert_true(copy && set && !pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC));
        program_split(copy, words, 1);
        program_split(set, variables, 0);
        program->pid = fork();
        assert_true(program->pid >= 0);
        if (!program->pid) {
                setpgid(0, 0);
                dup2(out[1], STDOUT_FILENO);
                dup2(err[1], STDERR_FILENO);
                for (unsigned i = 0; variables[i]; i++)
                        putenv(variables[i]);
                if (program->before_exec)
                        program->before_exec();
                fexecve(exe, words, environ);
                _exit(127);
        }
        setpgid(program->pid, program->pid);
        program_running = program->pid;
        close(exe);
        close(out[1]);
        close(err[1]);
        program->out_fd = out[0];
        program->err_fd = err[0];
        free(copy);
        free(set);
}

static inline void program_fail_late(void)
{
        fail_msg("the program, or a child of it, still runs after %d s", DEADLINE_S);
}

/* Appends what the descriptor has. False: it has ended. */
static inline bool program_read(int fd, char **text, size_t *used)
{
        *text = realloc(*text, *used + 4096 + 1);
        assert_non_null(*text);
        ssize_t count = read(fd, *text + *used, 4096);
        assert_true(count >= 0);
        *used += (size_t)count;
        (*text)[*used] = '\0';
        return count > 0;
}

/* Reads all it prints, until the last holder of its stderr has ended, its children among them. */
static inline void program_finish(struct program *program)
{
        uint64_t deadline_ns = clock_wall_ns() + DEADLINE_S * UINT64_C(1000000000);
        struct pollfd fds[] = {{program->out_fd, POLLIN, 0}, {program->err_fd, POLLIN, 0}};
        char **const texts[] = {&program->out, &program->err};
        size_t used[] = {0, 0};
        program->out = strdup("");
        program->err = strdup("");
        assert_true(program->out && program->err);
        while (fds[0].fd >= 0 || fds[1].fd >= 0) {
                if (clock_wall_ns() > deadline_ns)
                        program_fail_late();
                poll(fds, 2, 100);
                for (int i = 0; i < 2; i++)
                        if (fds[i].revents && !program_read(fds[i].fd, texts[i], &used[i])) {
                                close(fds[i].fd);
                                fds[i] = (struct pollfd){.fd = -1};
                        }
        }
        int status;
        while (!waitpid(program->pid, &status, WNOHANG)) {
                if (clock_wall_ns() > deadline_ns)
                        program_fail_late();
                usleep(1000);
        }
        program_running = 0;
        program->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline void program_free(struct program *program)
{
        free(program->out);
        free(program->err);
        program->out = program->err = NULL;
}

static inline void program_run(struct program *program, const char *line)
{
        program_start(program, line);
        program_finish(program);
}

/* For a test program that is the reaper of orphans below it. */
static inline void assert_no_process_left(void)
{
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
}

#define assert_code(program, expected)                                                             \
        do {                                                                                       \
                if ((program)->code != (expected))                                                 \
                        fail_msg("exit %d, expected %d; stderr: %s", (program)->code, (expected),  \
                                (program)->err);                                                   \
        } while (0)

#define assert_contains(text, part)                                                                \
        do {                                                                                       \
                if (!strstr((text), (part)))                                                       \
                        fail_msg("'%s' is not in: %s", (part), (text));                            \
        } while (0)

/* A file's whole text; NULL: there is none. The caller frees. */
static inline char *file_read(const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        char *text = NULL;
        size_t used = 0;
        if (fd < 0)
                return NULL;
        while (program_read(fd, &text, &used))
                ;
        close(fd);
        return text;
}

/* A CSV file: rows of as many fields as its header has. */
struct sheet {
        char *text;    /* what the fields point into */
        char **fields; /* the header's, then each row's */
        unsigned columns, rows;
};

/* One RFC 4180 field at *at, unquoted in place; *at goes behind its end, which is returned. */
static inline char sheet_field(char **at, char **field)
{
        char *read = *at, *write = *field = *at;
        bool quoted = *read == '"';
        for (read += quoted; *read && (quoted || !strchr(",\n", *read)); read++) {
                if (quoted && *read == '"' && read[1] != '"') {
                        quoted = false;
                        continue;
                }
                read += quoted && *read == '"';
                *write++ = *read;
        }
        char end = *read;
        *at = read + !!end;
        *write = '\0';
        return end;
}

/* Takes the text over. Fails the test on a row of another length than the header's or one without
 * its end. */
static inline struct sheet sheet_parse(char *text)
{
        struct sheet csv = {.text = text};
        unsigned count = 0, column = 0;
        assert_non_null(text);
        for (char *at = text; at && *at;) {
                csv.fields = realloc(csv.fields, (count + 1) * sizeof *csv.fields);
                assert_non_null(csv.fields);
                char end = sheet_field(&at, &csv.fields[count++]);
                column++;
                if (!end)
                        fail_msg("the last row is not whole: …%s", csv.fields[count - 1]);
                if (end != '\n')
                        continue;
                if (!csv.columns)
                        csv.columns = column;
                else if (column != csv.columns)
                        fail_msg("row %u has %u fields, the header %u", csv.rows + 1, column,
                                csv.columns);
                csv.rows += count > csv.columns;
                column = 0;
        }
        assert_true(csv.columns);
        return csv;
}

static inline struct sheet sheet_read(const char *path)
{
        char *text = file_read(path);
        if (!text)
                fail_msg("there is no %s", path);
        return sheet_parse(text);
}

static inline void sheet_free(struct sheet *csv)
{
        free(csv->fields);
        free(csv->text);
}

/* A row's field by its column's name; fails the test when there is no such column. */
static inline const char *sheet_text(const struct sheet *csv, unsigned row, const char *column)
{
        for (unsigned i = 0; i < csv->columns; i++)
                if (!strcmp(csv->fields[i], column))
                        return csv->fields[(row + 1) * csv->columns + i];
        fail_msg("there is no column %s", column);
        return "";
}

/* … as a number; fails the test when it isn't one. */
static inline double sheet_number(const struct sheet *csv, unsigned row, const char *column)
{
        char *end;
        const char *text = sheet_text(csv, row, column);
        double number = strtod(text, &end);
        if (!*text || *end)
                fail_msg("row %u: %s is '%s'", row, column, text);
        return number;
}

/* Files below path whose name ends so. */
static inline unsigned count_files(const char *path, const char *ending)
{
        unsigned count = 0;
        DIR *directory = opendir(path);
        assert_non_null(directory);
        for (const struct dirent *entry; (entry = readdir(directory));) {
                size_t bytes = strlen(entry->d_name), wanted = strlen(ending);
                count += entry->d_name[0] != '.' && bytes >= wanted &&
                         !strcmp(entry->d_name + bytes - wanted, ending);
        }
        closedir(directory);
        return count;
}

/* Each test has a directory of its own, which is the current one meanwhile. */
static char scratch[] = "/tmp/fanin-program-XXXXXX";

static inline int scratch_make(void **state)
{
        (void)state;
        strcpy(strrchr(scratch, '-'), "-XXXXXX");
        return mkdtemp(scratch) && !chdir(scratch) ? 0 : -1;
}

static inline int scratch_remove_one(
        const char *path, const struct stat *status, int type, struct FTW *level)
{
        (void)status, (void)type, (void)level;
        return remove(path);
}

static inline int scratch_remove(void **state)
{
        (void)state;
        if (program_running)
                kill(-program_running, SIGKILL);
        program_running = 0;
        while (waitpid(-1, NULL, 0) > 0) /* orphans below it too, where this is their reaper */
                ;
        return chdir("/") || nftw(scratch, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#define SCRATCH_TEST(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_remove)

/* The exit code of a child whose before_exec could not do its part. */
enum { NO_FILTER = 77 };

static inline void skip_without_filter(const struct program *program, const char *what)
{
        if (program->code != NO_FILTER)
                return;
        print_message("SKIP: %s can't be refused here\n", what);
        skip();
}

/* As few rounds as a sample can have. */
#define QUICKLY " --min-time 0.001 --max-sample 0.001 --per-producer 16"

#endif
