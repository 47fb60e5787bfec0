/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The unit of replication is a process: this one stays single-threaded and executes /proc/self/exe
 * anew for every sample, so that a crash, a hang or an OOM kill is a row and the sweep goes on.
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup.h"
#include "clock.h"

extern char **environ;

volatile sig_atomic_t spawn_interrupted;

static void interrupt(int signal)
{
        (void)signal;
        spawn_interrupted = 1;
}

void spawn_catch_signals(void)
{
        struct sigaction action = {.sa_handler = interrupt}; /* no SA_RESTART: poll returns */
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
}

void spawn_add(struct spawn_arguments *arguments, const char *format, ...)
{
        va_list values;
        va_start(values, format);
        char *text;
        int bytes = vasprintf(&text, format, values);
        va_end(values);
        if (bytes < 0 || arguments->count + 1 == sizeof arguments->list / sizeof *arguments->list)
                die("a sample's arguments are too many, or there is no memory for them");
        arguments->list[arguments->count++] = text;
}

void spawn_begin(
        struct spawn_arguments *arguments, const struct settings *settings, const char *command)
{
        spawn_add(arguments, "fanin");
        spawn_add(arguments, "%s", command);
        for (unsigned i = 0; i < settings->forward_count; i++)
                if (settings->forward[i].value)
                        spawn_add(arguments, "--%s=%s", settings->forward[i].name,
                                settings->forward[i].value);
                else
                        spawn_add(arguments, "--%s", settings->forward[i].name);
}

void spawn_add_cpus(
        struct spawn_arguments *arguments, const struct settings *settings, unsigned producers)
{
        char *list = NULL;
        size_t bytes = 0;
        if (!settings->cpu_count)
                return;
        FILE *text = open_memstream(&list, &bytes);
        for (unsigned i = 0; text && i < settings->cpu_count && i <= producers; i++)
                fprintf(text, "%s%u", i ? "," : "", settings->cpus[i]);
        if (!text || fclose(text))
                die("no memory for the list of CPUs");
        spawn_add(arguments, "--cpus=%s", list);
        free(list);
}

/* 0 or an errno. */
static int start(char **arguments, const char *program, pid_t *pid, int *out)
{
        int fds[2];
        if (pipe2(fds, O_CLOEXEC))
                return errno;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        int error = posix_spawn(
                pid, program ? program : "/proc/self/exe", &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(fds[1]);
        if (error)
                close(fds[0]);
        else
                *out = fds[0];
        return error;
}

/* Reads until the end of the pipe or the deadline; false: the deadline, or interrupted. */
static bool read_all(int fd, FILE *text, uint64_t deadline_ns)
{
        char part[4096];
        for (;;) {
                uint64_t now_ns = clock_wall_ns();
                if (spawn_interrupted || now_ns >= deadline_ns)
                        return false;
                struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
                if (poll(&poll_fd, 1, (int)((deadline_ns - now_ns) / 1000000 + 1)) <= 0)
                        continue;
                ssize_t count = read(fd, part, sizeof part);
                if (count > 0)
                        fwrite(part, 1, (size_t)count, text);
                else if (count == 0 || errno != EINTR)
                        return true;
        }
}

/* The kernel's OOM killer sends what we did not: it counts what it kills. */
static void describe_end(struct spawn_end *end, int wait_status, uint64_t oom_kills)
{
        end->status = STATUS_CRASH;
        if (!WIFSIGNALED(wait_status)) {
                snprintf(end->reason, sizeof end->reason,
                        "the sample exited with %d and no whole result", WEXITSTATUS(wait_status));
        } else if (WTERMSIG(wait_status) == SIGKILL && cgroup_oom_kills() != oom_kills) {
                end->status = STATUS_OOM;
                snprintf(end->reason, sizeof end->reason,
                        "the kernel killed the sample: its cgroup is out of memory");
        } else {
                snprintf(end->reason, sizeof end->reason, "the sample died of signal %d (%s)",
                        WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
        }
}

bool spawn_execute(struct spawn_arguments *arguments, const char *program, double deadline_s,
        struct spawn_end *end)
{
        *end = (struct spawn_end){.status = STATUS_OK};
        uint64_t oom_kills = cgroup_oom_kills();
        size_t bytes = 0;
        pid_t pid = -1;
        int out = -1, error = start(arguments->list, program, &pid, &out);
        for (unsigned i = 0; i < arguments->count; i++)
                free(arguments->list[i]);
        FILE *text = open_memstream(&end->text, &bytes);
        if (!text)
                die("no memory for a sample's result");
        if (error) {
                fclose(text);
                end->status = STATUS_REFUSED;
                snprintf(end->reason, sizeof end->reason,
                        "the sample's process could not be started: %s", strerror(error));
                return true;
        }
        bool ended = read_all(out, text, clock_wall_ns() + (uint64_t)(deadline_s * 1e9));
        fclose(text);
        close(out);
        if (!ended)
                kill(pid, SIGKILL);
        int wait_status;
        struct rusage usage = {0};
        while (wait4(pid, &wait_status, 0, &usage) < 0 && errno == EINTR)
                ;
        end->busy_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
        if (spawn_interrupted) {
                free(end->text);
                return false;
        }
        if (!ended) {
                end->status = STATUS_HANG;
                snprintf(end->reason, sizeof end->reason, "no result after --deadline %g s",
                        deadline_s);
        } else if (wait_status) {
                describe_end(end, wait_status, oom_kills);
        }
        return true;
}

static bool parse(char *text, struct row *row)
{
        char *save = NULL;
        bool ended = false;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                ended = !strcmp(line, "end");
                if (!ended && !row_receive(row, line))
                        return false;
        }
        return ended;
}

bool spawn_sample(const struct settings *settings, const struct spec *spec, unsigned producers,
        unsigned per_producer, const char *program, struct row *row)
{
        struct spawn_arguments arguments = {.count = 0};
        struct spawn_end end;
        char config[SPEC_BYTES];
        spec_print(spec, config, sizeof config);
        spawn_begin(&arguments, settings, "sample");
        spawn_add(&arguments, "--config=%s", config);
        spawn_add(&arguments, "--producers=%u", producers);
        if (per_producer)
                spawn_add(&arguments, "--per-producer=%u", per_producer);
        spawn_add_cpus(&arguments, settings, producers);
        if (!spawn_execute(&arguments, program, settings->deadline_s, &end))
                return false;
        if (end.status == STATUS_OK && !parse(end.text, row)) {
                end.status = STATUS_CRASH;
                snprintf(end.reason, sizeof end.reason, "the sample printed no whole result");
        }
        free(end.text);
        if (end.status == STATUS_OK)
                return true;   /* its row has the status that it gave itself */
        row->measured = false; /* half a result is none */
        row_drop_details(row);
        row->busy_s = end.busy_s;
        row_set_status(row, end.status);
        snprintf(row->reason, sizeof row->reason, "%s", end.reason);
        return true;
}
