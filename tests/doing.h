/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What the engine's tests share: which case is under way (for the watchdog and the asserts),
 * failures noted off the main thread, where cmocka can't assert, and small waits. A test program's
 * main calls doing_watch first.
 */
#ifndef FANIN_TESTS_DOING_H
#define FANIN_TESTS_DOING_H

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../engine/context.h"

enum { HANG_S = 120 };

static _Atomic(const char *) failure; /* the first */
static char doing[128];

static inline void note(const char *sentence)
{
        const char *none = NULL;
        atomic_compare_exchange_strong(&failure, &none, sentence);
}

static inline void on_hang(int number)
{
        (void)number;
        if (write(STDERR_FILENO, doing, strlen(doing)) < 0 ||
                write(STDERR_FILENO, ": hangs\n", 8) < 0)
                _exit(2);
        _exit(1);
}

static inline void doing_watch(void)
{
        signal(SIGALRM, on_hang);
}

/* Most often a configuration. It has HANG_S to end. */
__attribute__((format(printf, 1, 2))) static inline void begin(const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(doing, sizeof doing, format, arguments);
        va_end(arguments);
        alarm(HANG_S);
}

static inline void assert_unfailed(void)
{
        const char *sentence = atomic_exchange(&failure, NULL);
        if (sentence)
                fail_msg("%s: %s", doing, sentence);
}

static inline void assert_equal(const char *what, uint64_t found, uint64_t expected)
{
        if (found != expected)
                fail_msg("%s: %s is %llu, not %llu", doing, what, (unsigned long long)found,
                        (unsigned long long)expected);
}

static inline void pause_shortly(void)
{
        const struct timespec pause = {.tv_nsec = 50000};
        nanosleep(&pause, NULL);
}

static inline void await(const _Atomic unsigned *value, unsigned at_least)
{
        while (atomic_load(value) < at_least)
                pause_shortly();
}

static inline void take(sem_t *semaphore)
{
        while (sem_wait(semaphore)) /* EINTR */
                ;
}

static inline pthread_t spawn(void *(*run)(void *), void *argument)
{
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run, argument), 0);
        return thread;
}

static inline fanin_handle start_with(const struct fanin_options *options)
{
        fanin_handle handle;
        char why[512] = "";
        int result = fanin_create(&handle, options, why, sizeof why);
        if (result)
                fail_msg("%s: create returned %d: %s", doing, result, why);
        return handle;
}

static inline void stop(fanin_handle handle)
{
        assert_int_equal(fanin_destroy(handle), FANIN_OK);
        assert_unfailed();
}

#endif
