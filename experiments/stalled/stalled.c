/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Who still gets through when a producer stops inside its push? Parks one at each queue_step of its
 * push, in every backend, and watches the others: `stalled [--csv FILE]`, run by
 * experiments/stalled.sh. It is linked with the objects that have queue_step; a library's steps are
 * those of tests/shim. Each case is a process, and is run twice: both must agree.
 *
 * Columns of the CSV, one line a backend, other producer and step:
 *
 *      queue             the backend, with its keys' defaults
 *      other_producer    any: there is one list, or which producer has which is the queue's own
 *                        affair; same list, another list: as the parked one's
 *      step              the so-manieth queue_step of the push, from 1; NA: none met
 *      pushes            what became of three pushes of the other producer beside the parked one:
 *                        return, blocked (no progress within 200 ms, and asleep or spinning), full
 *      pushes_returned   how many of the three returned
 *      earlier_came      of three requests from before, so many came out beside the parked one
 *      later_came        so many of pushes_returned did
 *      drain_says        EMPTY, STALLED, MORE or blocked, when nothing came any more
 *      after             when it had gone on: all once, lost, doubled, hangs, crashes; or why there
 *                        is nothing to see: no step, not visible, refused
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../queues/shards.h"
#include "table.h"

enum { AT_ONCE = 8, OTHERS_MAX = 2 };

/* Lists that producers are dealt to by index; 0: it isn't known. */
static unsigned count_shards(const struct queue_ops *ops)
{
        unsigned shards = 0;
        for (const struct queue_key *key = ops->keys; key && key->name; key++) {
                if (!strcmp(key->name, "shards"))
                        shards = key->otherwise;
                if (!strcmp(key->name, "by") && key->otherwise != QUEUE_BY_PRODUCER)
                        return 0;
        }
        return shards;
}

static unsigned plan(struct stalled_run *runs)
{
        const struct queue_ops *ops;
        unsigned count = 0;
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                unsigned shards = count_shards(ops);
                for (unsigned other = 0; other < (shards > 1 ? 2 : 1); other++)
                        for (unsigned step = 1; step <= CASE_STEPS_MAX; step++)
                                runs[count++] = (struct stalled_run){
                                        .is = {.ops = ops,
                                                .other = shards > 1 && !other ? shards : 1,
                                                .step = step},
                                        .whose = shards <= 1 ? "any"
                                                 : other     ? "another list"
                                                             : "same list",
                                };
        }
        return count;
}

/* A child's end of the matter. */
static _Noreturn void be_child(const struct stalled_case *is, int out)
{
        struct case_outcome outcome;
        alarm(CASE_DEADLINE_S);
        case_run(is, &outcome);
        _exit(write(out, &outcome, sizeof outcome) != sizeof outcome);
}

struct child {
        pid_t pid; /* 0: none */
        int in;
        struct case_outcome *outcome;
};

static void launch(struct child *child, struct stalled_run *run, unsigned turn)
{
        int pipe_ends[2];
        if (pipe(pipe_ends) || (child->pid = fork()) < 0) {
                fprintf(stderr, "stalled: no process for a case: %s\n", strerror(errno));
                exit(1);
        }
        if (!child->pid) {
                close(pipe_ends[0]);
                be_child(&run->is, pipe_ends[1]);
        }
        close(pipe_ends[1]);
        child->in = pipe_ends[0];
        child->outcome = &run->outcome[turn];
}

static void collect(struct child *child)
{
        int status = 0;
        bool whole =
                read(child->in, child->outcome, sizeof *child->outcome) == sizeof *child->outcome;
        close(child->in);
        while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
                ;
        if (!whole || status) {
                bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
                *child->outcome = (struct case_outcome){.end = late ? CASE_HANGS : CASE_CRASHES};
        }
        child->pid = 0;
}

/* AT_ONCE children at a time. */
static void run_all(struct stalled_run *runs, unsigned count)
{
        struct child children[AT_ONCE] = {{0}};
        unsigned next = 0, running = 0;
        while (next < count * STALLED_TWICE || running) {
                struct pollfd waits[AT_ONCE];
                for (unsigned i = 0; i < AT_ONCE; i++) {
                        if (!children[i].pid && next < count * STALLED_TWICE) {
                                launch(&children[i], &runs[next / STALLED_TWICE],
                                        next % STALLED_TWICE);
                                next++;
                                running++;
                        }
                        waits[i] = (struct pollfd){
                                .fd = children[i].pid ? children[i].in : -1, .events = POLLIN};
                }
                if (poll(waits, AT_ONCE, -1) < 0)
                        continue; /* EINTR */
                for (unsigned i = 0; i < AT_ONCE; i++)
                        if (waits[i].revents) {
                                collect(&children[i]);
                                running--;
                        }
        }
}

/* Exit code: 1 if a case isn't as it should be. */
static int judge(const struct stalled_run *runs, unsigned count)
{
        int code = 0;
        for (unsigned i = 0; i < count; i++) {
                enum case_end end = runs[i].outcome->end;
                const char *fault = NULL;
                if (!table_same(&runs[i].outcome[0], &runs[i].outcome[1]))
                        fault = "two runs had different outcomes";
                else if (end > CASE_ALL_ONCE)
                        fault = table_end(&runs[i]);
                if (!fault)
                        continue;
                fprintf(stderr, "stalled: %s, step %u, %s: %s\n", runs[i].is.ops->name,
                        runs[i].is.step, runs[i].whose, fault);
                code = 1;
        }
        return code;
}

int main(int argc, char **argv)
{
        const char *csv = argc == 3 && !strcmp(argv[1], "--csv") ? argv[2] : NULL;
        if (argc != 1 && !csv) {
                fputs("usage: stalled [--csv FILE]: prints the table of outcomes, and writes FILE\n"
                      "exit: 0 done, 1 an outcome that must not be, 2 usage, or FILE or stdout "
                      "can't be written\n",
                        stderr);
                return 2;
        }
        unsigned backends = 0;
        while (registry_at(backends))
                backends++;
        struct stalled_run *runs =
                calloc((size_t)backends * OTHERS_MAX * CASE_STEPS_MAX + 1, sizeof *runs);
        if (!runs)
                return 2;
        queue_guard_init();
        unsigned count = plan(runs);
        run_all(runs, count);
        table_print(runs, count);
        int code = judge(runs, count);
        if (csv && !table_csv(csv, runs, count)) {
                fprintf(stderr, "stalled: %s can't be written: %s\n", csv, strerror(errno));
                code = 2;
        }
        if (fflush(stdout) || ferror(stdout))
                code = 2;
        free(runs);
        return code;
}
