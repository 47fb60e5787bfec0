/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The first failure, the watchdog, and the last words of a crash. */
#include "report.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WHERE_BYTES = 160, SENTENCE_BYTES = 512, WATCH_MS = 100 };

static char where[WHERE_BYTES];       /* "vyukov, check order, 5 producers" */
static char sentence[SENTENCE_BYTES]; /* where, and the first failure */
static atomic_bool sentence_taken;    /* by whoever fails first */
static atomic_bool failed;            /* the sentence is complete */
static _Atomic uint64_t deadline_ns;  /* 0: no check is running */
static const char *_Atomic hang;      /* what one means at present */
static uint64_t hang_ns;

uint64_t report_now_ns(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t report_patience_ns(void)
{
        return hang_ns / 2;
}

static void say(const char *text)
{
        if (write(STDERR_FILENO, text, strlen(text)) < 0)
                return; /* nobody to tell */
}

static void *watch(void *unused)
{
        (void)unused;
        for (;;) {
                const struct timespec pause = {0, WATCH_MS * 1000000L};
                nanosleep(&pause, NULL);
                uint64_t deadline = atomic_load(&deadline_ns);
                if (!deadline || report_now_ns() < deadline)
                        continue;
                /* Whoever hangs may hold any lock: nothing here takes one. */
                if (report_failed()) {
                        say(sentence);
                        say("\n");
                }
                say(where);
                say(": hangs: ");
                say(atomic_load(&hang));
                say("; the watchdog ended it\n");
                _exit(1);
        }
        return NULL;
}

static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { DEADLY = sizeof deadly / sizeof *deadly };

static struct sigaction before[DEADLY]; /* the sanitizer's, or the default */

static void on_crash(int number)
{
        say(where);
        say(": crashed\n");
        for (unsigned i = 0; i < DEADLY; i++)
                if (deadly[i] == number)
                        sigaction(number, &before[i], NULL);
        raise(number); /* delivered when this handler returns */
}

void report_start(unsigned hang_s)
{
        hang_ns = hang_s * UINT64_C(1000000000);
        for (unsigned i = 0; i < DEADLY; i++)
                sigaction(deadly[i], NULL, &before[i]);
        pthread_t thread;
        if (pthread_create(&thread, NULL, watch, NULL)) {
                say("cannot start the watchdog\n");
                exit(1);
        }
        pthread_detach(thread);
}

void report_begin(const char *configuration, const char *check, unsigned producers)
{
        snprintf(where, sizeof where, "%s, check %s, %u producer%s", configuration, check,
                producers, producers == 1 ? "" : "s");
        atomic_store(&failed, false);
        atomic_store(&sentence_taken, false);
        /* Anew for each check: cmocka puts handlers of its own in place before each test, and
         * those jump to the main thread's stack, whichever thread crashed. */
        const struct sigaction action = {.sa_handler = on_crash};
        for (unsigned i = 0; i < DEADLY; i++)
                sigaction(deadly[i], &action, NULL);
        report_hangs_as("a push, flush, settle or drain does not return, or a request never "
                        "comes back");
        report_allow(1);
}

void report_hangs_as(const char *meaning)
{
        atomic_store(&hang, meaning);
}

void report_allow(unsigned times)
{
        atomic_store(&deadline_ns, report_now_ns() + times * hang_ns);
}

const char *report_end(void)
{
        atomic_store(&deadline_ns, 0);
        return report_failed() ? sentence : NULL;
}

void report_failure(const char *format, ...)
{
        if (atomic_exchange(&sentence_taken, true))
                return;
        int begun = snprintf(sentence, sizeof sentence, "%s: ", where);
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(sentence + begun, sizeof sentence - (size_t)begun, format, arguments);
        va_end(arguments);
        atomic_store(&failed, true);
}

bool report_failed(void)
{
        return atomic_load(&failed);
}
