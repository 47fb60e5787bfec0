/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Bad luck: interrupted, a full disk, no threads, no pinning, a sweep that is killed. What was
 * finished stays, and there is a sentence. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../experiments/settings.h"
#include "run_program.h"

static void await_lines(const char *path, unsigned wanted)
{
        for (unsigned i = 0; i < DEADLINE_S * 200; i++) {
                unsigned lines = 0;
                char *text = file_read(path);
                for (const char *at = text; at && (at = strchr(at, '\n')); at++)
                        lines++;
                free(text);
                if (lines >= wanted)
                        return;
                usleep(5000);
        }
        fail_msg("%s never has %u lines", path, wanted);
}

/* to: the program, or its process group as a terminal's ^C does. */
static void interrupt(int signal, bool group)
{
        struct program program = {0};
        program_start(&program, "run --config mutex,vyukov --producers 1,2 --samples 500 "
                                "--min-time 0.02 --max-sample 0.05 --out d");
        await_lines("d/samples.csv", 4);
        assert_int_equal(kill(group ? -program.pid : program.pid, signal), 0);
        program_finish(&program);
        assert_code(&program, EXIT_INTERRUPTED);
        assert_no_process_left();
        assert_contains(program.err, "fanin: interrupted after ");
        struct sheet samples = sheet_read("d/samples.csv"), summary = sheet_read("d/summary.csv");
        unsigned summed = 0;
        for (unsigned i = 0; i < samples.rows; i++)
                assert_string_equal(sheet_text(&samples, i, "status"), "ok");
        for (unsigned i = 0; i < summary.rows; i++)
                summed += (unsigned)sheet_number(&summary, i, "samples");
        assert_int_equal(summed, samples.rows);
        assert_in_range(samples.rows, 3, 1999);
        assert_int_equal(count_files("d", ".tmp"), 0);
        assert_int_equal(count_files("d", ""), 7);
        char *log = file_read("d/log");
        assert_contains(log, "interrupted");
        free(log);
        sheet_free(&samples);
        sheet_free(&summary);
        program_free(&program);
}

static void test_interrupted(void **state)
{
        (void)state;
        interrupt(SIGINT, false);
}

static void test_interrupted_at_a_terminal(void **state)
{
        (void)state;
        interrupt(SIGINT, true);
}

static void test_terminated(void **state)
{
        (void)state;
        interrupt(SIGTERM, false);
}

static rlim_t file_bytes;

/* Files can't grow beyond it: as near to a full disk as any user can get. */
static void limit_files(void)
{
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){file_bytes, file_bytes});
}

static void test_disk_fills(void **state)
{
        (void)state;
        struct program program = {.before_exec = limit_files};
        file_bytes = 6000;
        program_run(&program, "run --config mutex,vyukov --samples 50 --out d" QUICKLY);
        assert_code(&program, EXIT_USAGE);
        assert_contains(program.err, "d/samples.csv");
        assert_contains(program.err, "can't be written");
        assert_no_process_left();
        struct sheet samples = sheet_read("d/samples.csv"), summary = sheet_read("d/summary.csv");
        assert_in_range(samples.rows, 2, 100);
        assert_true(summary.rows > 0);
        assert_int_equal(count_files("d", ".tmp"), 0);
        sheet_free(&samples);
        sheet_free(&summary);
        program_free(&program);
}

/* What could not be written whole is not there. */
static void test_disk_is_full(void **state)
{
        (void)state;
        struct program program = {.before_exec = limit_files};
        for (file_bytes = 0; file_bytes <= 120; file_bytes += 40) {
                program_run(&program, "run --config mutex --samples 1 --out d" QUICKLY);
                assert_code(&program, EXIT_USAGE);
                assert_contains(program.err, "--out");
                assert_contains(program.err, "can't be written");
                if (!access("d", F_OK)) {
                        char *command = file_read("d/command");
                        assert_true(!command || strchr(command, '\n'));
                        free(command);
                        assert_int_equal(access("d/machine.json", F_OK), -1);
                        assert_int_equal(access("d/samples.csv", F_OK), -1);
                        assert_int_equal(count_files("d", ".tmp"), 0);
                        assert_int_equal(nftw("d", scratch_remove_one, 8, FTW_DEPTH), 0);
                }
                program_free(&program);
        }
}

static void fill_stdout(void)
{
        dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
}

static void test_stdout_is_full(void **state)
{
        (void)state;
        static const char *const lines[] = {"run --config mutex" QUICKLY, "list",
                "list --format csv", "run --config mutex --format csv" QUICKLY,
                "run --config mutex --format json" QUICKLY};
        for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
                struct program program = {.before_exec = fill_stdout};
                program_run(&program, lines[i]);
                assert_true(program.code == EXIT_FAILED || program.code == EXIT_USAGE);
                assert_contains(program.err, "stdout");
                program_free(&program);
        }
}

static void filter_calls(struct sock_filter *filter, unsigned short count)
{
        struct sock_fprog program = {count, filter};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
                _exit(NO_FILTER);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Processes, but no threads. */
static void refuse_threads(void)
{
        static struct sock_filter filter[] = {LOAD(nr),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
                ANSWER(ENOSYS), /* its flags are in memory: the C library falls back to clone */
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3), LOAD(args[0]),
                BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1), ANSWER(EAGAIN), ALLOW};
        filter_calls(filter, sizeof filter / sizeof filter[0]);
}

/* As an unprivileged user who may have so few: some threads start, some don't. */
static void limit_threads(void)
{
        struct rlimit limit = {20, 20};
        if (setgid(65534) || setuid(65534) || setrlimit(RLIMIT_NPROC, &limit))
                _exit(NO_FILTER);
}

static void refuse_pinning(void)
{
        static struct sock_filter filter[] = {LOAD(nr),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1), ANSWER(EPERM),
                ALLOW};
        filter_calls(filter, sizeof filter / sizeof filter[0]);
}

static void test_threads_refused(void **state)
{
        (void)state;
        if (UNDER_TSAN) {
                print_message("SKIP: ThreadSanitizer needs a thread of its own\n");
                skip();
        }
        struct program program = {.before_exec = refuse_threads};
        program_run(&program, "run --config mutex --producers 3 --samples 1 --out d" QUICKLY);
        skip_without_filter(&program, "clone");
        assert_code(&program, EXIT_FAILED);
        assert_contains(program.err, "refused: thread 1 of --producers 3");
        assert_no_process_left();
        struct sheet samples = sheet_read("d/samples.csv");
        assert_int_equal(samples.rows, 1);
        assert_string_equal(sheet_text(&samples, 0, "status"), "refused");
        assert_string_equal(sheet_text(&samples, 0, "submit_per_s"), "NA");
        sheet_free(&samples);
        program_free(&program);
}

static void test_some_threads_refused(void **state)
{
        (void)state;
        if (geteuid()) {
                print_message("SKIP: only root can become another user\n");
                skip();
        }
        struct program program = {.before_exec = limit_threads};
        program_run(&program, "run --config mutex --producers 2,64 --samples 1" QUICKLY);
        skip_without_filter(&program, "RLIMIT_NPROC");
        assert_code(&program, EXIT_FAILED);
        assert_contains(program.err, "64 producers, sample 0: refused: thread ");
        assert_contains(program.err, " of --producers 64");
        assert_contains(program.err, "ulimit -u");
        assert_null(strstr(program.err, "2 producers"));
        assert_no_process_left();
        program_free(&program);
}

static void test_pinning_refused(void **state)
{
        (void)state;
        struct program program = {.before_exec = refuse_pinning};
        program_run(&program, "run --config mutex --pin compact --producers 2 --samples 1 "
                              "--out d" QUICKLY);
        skip_without_filter(&program, "sched_setaffinity");
        struct sheet samples = sheet_read("d/samples.csv");
        assert_string_equal(sheet_text(&samples, 0, "pinned"), "no");
        assert_contains(program.err, "--pin");
        sheet_free(&samples);
        program_free(&program);
}

static void test_pinned(void **state)
{
        (void)state;
        static const char *const pins[] = {"none", "compact", "scatter"};
        for (unsigned i = 0; i < 3; i++) {
                char line[256], path[64];
                struct program program = {0};
                snprintf(line, sizeof line,
                        "run --config mutex --producers 3 --samples 1 --pin %s "
                        "--out %s" QUICKLY,
                        pins[i], pins[i]);
                program_run(&program, line);
                assert_code(&program, EXIT_DONE);
                snprintf(path, sizeof path, "%s/samples.csv", pins[i]);
                struct sheet samples = sheet_read(path);
                assert_string_equal(sheet_text(&samples, 0, "pinned"), pins[i]);
                sheet_free(&samples);
                program_free(&program);
        }
}

/* The sweep's only child, once its threads run; 0: the kernel doesn't list children. */
static pid_t await_sample(pid_t sweep)
{
        char path[64];
        for (unsigned i = 0; i < DEADLINE_S * 200; i++) {
                snprintf(path, sizeof path, "/proc/%d/task/%d/children", sweep, sweep);
                char *text = file_read(path);
                if (!text)
                        return 0;
                pid_t pid = (pid_t)strtol(text, NULL, 10);
                free(text);
                snprintf(path, sizeof path, "/proc/%d/task", pid);
                if (pid && count_files(path, "") >= 3)
                        return pid;
                usleep(5000);
        }
        fail_msg("no sample begins");
        return 0;
}

/* Nobody would end a sample whose sweep was killed. */
static void test_sample_dies_with_its_sweep(void **state)
{
        (void)state;
        struct program program = {0};
        program_start(&program, "run --config mutex --producers 2 --samples 1 --per-producer 1000 "
                                "--min-time 20 --max-sample 20");
        pid_t sample = await_sample(program.pid);
        if (!sample)
                skip();
        int status;
        kill(program.pid, SIGKILL);
        program_finish(&program);
        assert_code(&program, 128 + SIGKILL);
        assert_int_equal(waitpid(sample, &status, 0), sample);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        program_free(&program);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCRATCH_TEST(test_interrupted),
                SCRATCH_TEST(test_interrupted_at_a_terminal),
                SCRATCH_TEST(test_terminated),
                SCRATCH_TEST(test_disk_fills),
                SCRATCH_TEST(test_disk_is_full),
                SCRATCH_TEST(test_stdout_is_full),
                SCRATCH_TEST(test_threads_refused),
                SCRATCH_TEST(test_some_threads_refused),
                SCRATCH_TEST(test_pinning_refused),
                SCRATCH_TEST(test_pinned),
                SCRATCH_TEST(test_sample_dies_with_its_sweep),
        };
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("luck", tests, NULL, NULL);
}
