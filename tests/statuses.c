/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What goes wrong with a sample is its row's status, and the sweep goes on: each status is earned
 * by a backend that breaks just that, or by a limit set to the process.
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include "../experiments/row.h"
#include "../experiments/settings.h"
#include "run_program.h"

enum { GROUP_MAX = 6, LIMIT_BYTES = 300 << 20 };

/* Files of the made-up cgroup that tests/broken/cgroup_tree.h is about. */
#define TREE "tree/sys/fs/cgroup/fanin/"

static void make_tree(void)
{
        static const char *const directories[] = {"tree", "tree/proc", "tree/proc/self", "tree/sys",
                "tree/sys/fs", "tree/sys/fs/cgroup", TREE};
        static const struct {
                const char *path, *text;
        } files[] = {{"tree/proc/self/cgroup", "0::/fanin\n"},
                {TREE "cpu.stat", "throttled_usec 0\n"}, {TREE "memory.events", "oom_kill 0\n"}};
        for (unsigned i = 0; i < sizeof directories / sizeof *directories; i++)
                assert_int_equal(mkdir(directories[i], 0700), 0);
        for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
                FILE *file = fopen(files[i].path, "w");
                assert_non_null(file);
                assert_true(fputs(files[i].text, file) >= 0);
                assert_int_equal(fclose(file), 0);
        }
}

static void limit_memory(void)
{
        if (setrlimit(RLIMIT_AS, &(struct rlimit){LIMIT_BYTES, LIMIT_BYTES}))
                _exit(NO_FILTER);
}

/* What a sweep over these queues, a good one in their midst, finds of each. Always wrong, that is:
 * what goes wrong by chance is the contract test's, which parks producers. */
struct group {
        const char *name, *options;
        int code; /* the exit code */
        struct {
                const char *queue;
                enum row_status status;
        } verdicts[GROUP_MAX];
        bool has_tree, is_limited; /* the sweep and its samples: the made-up cgroup; memory */
};

static const struct group groups[] = {
        {.name = "broken_rules",
                .options = "",
                .code = EXIT_BROKEN,
                .verdicts = {{"broken_drop", STATUS_LOST}, {"broken_double", STATUS_DOUBLED},
                        {"broken_drop_and_double", STATUS_LOST}, /* though the total is right */
                        {"broken_swap", STATUS_DISORDERED},
                        {"broken_lost_edge", STATUS_LOST_WAKE}}},
        /* With nothing to look after it, what nobody was woken for stays in the queue. */
        {.name = "lost_wake_without_the_poll",
                .options = "--poll-ms 0",
                .code = EXIT_BROKEN,
                .verdicts = {{"broken_lost_edge", STATUS_LOST_WAKE}}},
        {.name = "broken_processes",
                .options = SLOWER > 1 ? "--deadline 6" : "--deadline 2",
                .code = EXIT_FAILED,
                .verdicts = {{"broken_hang", STATUS_HANG}, {"broken_crash", STATUS_CRASH},
                        {"broken_refuse", STATUS_REFUSED},
                        {"broken_oom_killed", STATUS_CRASH}}}, /* by anyone, as far as it shows */
        {.name = "what_the_cgroup_says",
                .options = "",
                .code = EXIT_FAILED,
                .has_tree = true,
                .verdicts = {{"broken_oom_killed", STATUS_OOM}, {"broken_crash", STATUS_CRASH},
                        {"broken_throttles", STATUS_THROTTLED}}},
        {.name = "no_memory",
                .options = "",
                .code = EXIT_FAILED,
                .is_limited = true,
                .verdicts = {{"broken_hoards", STATUS_OOM}}},
};

enum { GROUPS = sizeof groups / sizeof *groups };

static void assert_status(const struct sheet *samples, const struct program *program,
        const char *queue, enum row_status status)
{
        for (unsigned i = 0; i < samples->rows; i++) {
                if (strcmp(sheet_text(samples, i, "queue"), queue) != 0)
                        continue;
                const char *found = sheet_text(samples, i, "status");
                if (strcmp(found, row_status_names[status]) != 0)
                        fail_msg("%s is %s, expected %s; stderr: %s", queue, found,
                                row_status_names[status], program->err);
                /* It has numbers where it could be measured. */
                bool measured = status == STATUS_OK || status == STATUS_THROTTLED;
                bool is_na = !strcmp(sheet_text(samples, i, "submit_per_s"), "NA");
                assert_true(!measured || !is_na);
                char sentence[128];
                snprintf(sentence, sizeof sentence, ", sample 0: %s: ", found);
                if (status != STATUS_OK)
                        assert_contains(program->err, sentence);
                return;
        }
        fail_msg("%s has no row", queue);
}

/* The good one has its median, the others count as bad. */
static void assert_summary(const struct sheet *summary)
{
        for (unsigned i = 0; i < summary->rows; i++) {
                bool good = !strncmp(sheet_text(summary, i, "config"), "mutex/", 6);
                assert_int_equal(sheet_number(summary, i, "samples"), good);
                assert_int_equal(sheet_number(summary, i, "samples_bad"), !good);
                assert_int_equal(
                        !strcmp(sheet_text(summary, i, "submit_per_s_median"), "NA"), !good);
        }
}

static void test_group(void **state)
{
        const struct group *group = *state;
        char line[1024];
        /* What a doubled request races with is the broken queue's doing. */
        struct program program = {.broken = true,
                .environment = group->has_tree ? "FANIN_BROKEN_CGROUP=tree"
                                               : "TSAN_OPTIONS=exitcode=0:report_bugs=0",
                .before_exec = group->is_limited ? limit_memory : NULL};
        if (group->is_limited && SLOWER > 1) {
                print_message("SKIP: a sanitizer needs more address space than any limit\n");
                skip();
        }
        make_tree();
        /* malloc's requests are not there any more when a doubled one is called back. */
        const char *alloc = group->is_limited ? "malloc" : "slab";
        snprintf(line, sizeof line,
                "run --producers 1 --samples 1 --per-producer 2000 --min-time 1 --max-sample %g "
                "--handler-ns 1000 --poll-ms 20 %s --out d --config mutex/edge/eventfd/%s",
                0.4 * (SLOWER > 1 ? 3 : 1), group->options, alloc);
        unsigned count = 0;
        for (; count < GROUP_MAX && group->verdicts[count].queue; count++) {
                size_t used = strlen(line);
                snprintf(line + used, sizeof line - used, ",%s/edge/eventfd/%s",
                        group->verdicts[count].queue, alloc);
        }
        program_run(&program, line);
        skip_without_filter(&program, "memory");
        struct sheet samples = sheet_read("d/samples.csv"), summary = sheet_read("d/summary.csv");
        assert_int_equal(samples.rows, count + 1);
        assert_status(&samples, &program, "mutex", STATUS_OK);
        for (unsigned i = 0; i < count; i++)
                assert_status(
                        &samples, &program, group->verdicts[i].queue, group->verdicts[i].status);
        assert_summary(&summary);
        assert_code(&program, group->code);
        /* No process is left; a sanitizer's report may leave its symbolizer. */
        if (SLOWER == 1)
                assert_no_process_left();
        sheet_free(&samples);
        sheet_free(&summary);
        program_free(&program);
}

/* A status that nothing earns is one that nobody has seen. */
static void test_each_is_earned(void **state)
{
        (void)state;
        for (enum row_status status = STATUS_OK + 1; status < STATUSES; status++) {
                bool earned = status == STATUS_SKIPPED; /* by no queue: the sweep's tests have it */
                for (unsigned i = 0; i < GROUPS; i++)
                        for (unsigned j = 0; j < GROUP_MAX && groups[i].verdicts[j].queue; j++)
                                earned |= groups[i].verdicts[j].status == status;
                if (!earned)
                        fail_msg("no broken backend earns '%s'", row_status_names[status]);
        }
}

/* What the sample itself has no memory for. */
static void test_no_memory_to_check(void **state)
{
        (void)state;
        if (SLOWER > 1) {
                print_message("SKIP: a sanitizer needs more address space than any limit\n");
                skip();
        }
        struct program program = {.before_exec = limit_memory};
        program_run(&program, "run --config mutex --producers 3 --samples 1 --out d "
                              "--per-producer 1000000000");
        skip_without_filter(&program, "memory");
        assert_code(&program, EXIT_FAILED);
        assert_contains(program.err, "sample 0: oom: no memory for the check of 1000000000 ");
        struct sheet samples = sheet_read("d/samples.csv");
        assert_status(&samples, &program, "mutex", STATUS_OOM);
        sheet_free(&samples);
        program_free(&program);
}

/* A request that malloc gave is freed after its callback: AddressSanitizer sees who writes then. */
static void test_broken_memory(void **state)
{
        (void)state;
        if (!UNDER_ASAN) {
                print_message("SKIP: without AddressSanitizer nobody sees it\n");
                skip();
        }
        struct program program = {.broken = true};
        program_run(&program, "run --config broken_touch_after/edge/eventfd/malloc --producers 2 "
                              "--samples 1 --per-producer 2000 --min-time 0.1 --out d");
        assert_code(&program, EXIT_FAILED);
        assert_contains(program.err, "heap-use-after-free");
        struct sheet samples = sheet_read("d/samples.csv");
        assert_status(&samples, &program, "broken_touch_after", STATUS_CRASH);
        sheet_free(&samples);
        program_free(&program);
}

int main(void)
{
        struct CMUnitTest tests[GROUPS + 3] = {
                SCRATCH_TEST(test_each_is_earned),
                SCRATCH_TEST(test_no_memory_to_check),
                SCRATCH_TEST(test_broken_memory),
        };
        for (unsigned i = 0; i < GROUPS; i++)
                tests[3 + i] = (struct CMUnitTest){.name = groups[i].name,
                        .test_func = test_group,
                        .setup_func = scratch_make,
                        .teardown_func = scratch_remove,
                        .initial_state = (void *)&groups[i]};
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("statuses", tests, NULL, NULL);
}
