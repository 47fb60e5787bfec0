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

enum { ARGUMENTS = 40, ARGUMENT_BYTES = 16384 };

/* The arguments of one sample, in one buffer. */
struct arguments {
        char *list[ARGUMENTS + 1];
        unsigned count;
        char text[ARGUMENT_BYTES];
        size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(
        struct arguments *arguments, const char *format, ...)
{
        char *at = arguments->text + arguments->used;
        size_t left = sizeof arguments->text - arguments->used;
        va_list values;
        va_start(values, format);
        int bytes = vsnprintf(at, left, format, values);
        va_end(values);
        if ((size_t)bytes >= left || arguments->count == ARGUMENTS)
                die("a sample's arguments are too long");
        arguments->list[arguments->count++] = at;
        arguments->used += (size_t)bytes + 1;
}

/* What differs between samples is said here; the rest as the user gave it. */
static void add_all(struct arguments *arguments, const struct settings *settings,
        const struct spec *spec, unsigned producers, unsigned per_producer)
{
        char config[SPEC_BYTES], cpus[8192] = "";
        spec_print(spec, config, sizeof config);
        add(arguments, "fanin");
        add(arguments, "sample");
        for (unsigned i = 0; i < settings->forward_count; i++)
                add(arguments, "--%s=%s", settings->forward[i].name, settings->forward[i].value);
        add(arguments, "--config=%s", config);
        add(arguments, "--producers=%u", producers);
        if (per_producer)
                add(arguments, "--per-producer=%u", per_producer);
        size_t used = 0;
        for (unsigned i = 0; i < settings->cpu_count && i <= producers && used < sizeof cpus; i++)
                used += (size_t)snprintf(
                        cpus + used, sizeof cpus - used, "%s%u", i ? "," : "", settings->cpus[i]);
        if (used >= sizeof cpus)
                die("--pin: the list of CPUs is too long for a sample's arguments");
        if (used)
                add(arguments, "--cpus=%s", cpus);
}

/* 0 or an errno. */
static int start(char **arguments, pid_t *pid, int *out)
{
        int fds[2];
        if (pipe2(fds, O_CLOEXEC))
                return errno;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        int error = posix_spawn(pid, "/proc/self/exe", &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(fds[1]);
        if (error)
                close(fds[0]);
        else
                *out = fds[0];
        return error;
}

/* Reads until the end of the pipe, the buffer, or the deadline; false: the deadline, or
 * interrupted. */
static bool read_all(int fd, char *text, size_t bytes, uint64_t deadline_ns)
{
        size_t used = 0;
        text[0] = '\0';
        while (used + 1 < bytes) {
                uint64_t now_ns = clock_wall_ns();
                if (spawn_interrupted || now_ns >= deadline_ns)
                        return false;
                struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
                if (poll(&poll_fd, 1, (int)((deadline_ns - now_ns) / 1000000 + 1)) <= 0)
                        continue;
                ssize_t count = read(fd, text + used, bytes - 1 - used);
                if (count <= 0)
                        return count == 0 || errno != EINTR;
                used += (size_t)count;
                text[used] = '\0';
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

static void describe_end(struct row *row, int wait_status)
{
        row_set_status(row, STATUS_CRASH);
        row->measured = false; /* half a result is none */
        if (WIFSIGNALED(wait_status))
                snprintf(row->reason, sizeof row->reason, "the sample died of signal %d (%s)",
                        WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
        else
                snprintf(row->reason, sizeof row->reason,
                        "the sample exited with %d and no whole result", WEXITSTATUS(wait_status));
}

bool spawn_sample(const struct settings *settings, const struct spec *spec, unsigned producers,
        unsigned per_producer, struct row *row)
{
        static char text[1 << 16];
        struct arguments *arguments = must_allocate(sizeof *arguments);
        add_all(arguments, settings, spec, producers, per_producer);
        pid_t pid = -1;
        int out = -1, error = start(arguments->list, &pid, &out);
        free(arguments);
        if (error) {
                row_set_status(row, STATUS_REFUSED);
                snprintf(row->reason, sizeof row->reason,
                        "the sample's process could not be started: %s", strerror(error));
                return true;
        }
        uint64_t deadline_ns = clock_wall_ns() + (uint64_t)(settings->deadline_s * 1e9);
        bool ended = read_all(out, text, sizeof text, deadline_ns);
        close(out);
        if (!ended)
                kill(pid, SIGKILL);
        int wait_status;
        struct rusage usage = {0};
        while (wait4(pid, &wait_status, 0, &usage) < 0 && errno == EINTR)
                ;
        if (spawn_interrupted)
                return false;
        if (!ended) {
                row_set_status(row, STATUS_HANG);
                row->busy_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
                snprintf(row->reason, sizeof row->reason, "no result after --deadline %g s",
                        settings->deadline_s);
        } else if (wait_status || !parse(text, row)) {
                describe_end(row, wait_status);
        }
        return true;
}
