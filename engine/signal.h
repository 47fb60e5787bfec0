/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * How the FFI thread is made to run: a signal is raised by any producer and waited for by the FFI
 * thread. It is level-triggered: raised stays raised until reset, however often it is sent.
 */
#ifndef FANIN_SIGNAL_H
#define FANIN_SIGNAL_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct signal {
        alignas(128) int read_fd, write_fd;
        alignas(128) _Atomic uint32_t raised; /* futex */
        alignas(128) pthread_mutex_t mutex;   /* condvar */
        pthread_cond_t condition;
        bool raised_under_mutex;
        alignas(128) void *library; /* uv_async */
};

struct signal_ops {
        const char *name, *summary;
        int (*create)(struct signal *); /* 0 or -errno */
        void (*destroy)(struct signal *);
        /* Any thread. True: sent; false: it saw that the signal was raised already (socketpair
         * only; libuv sees it too, and doesn't say so). */
        bool (*send)(struct signal *);
        /* FFI thread. Blocks until raised, or timeout_ms (-1: for ever) has passed; false: it
         * passed. */
        bool (*wait)(struct signal *, int timeout_ms);
        /* FFI thread. Lowers the signal; true: it was raised. Whatever was sent before is consumed
         * (uv_async: before the wait that it ended). */
        bool (*reset)(struct signal *);
};

/* Nobody is woken: for the policies poll and own. */
extern const struct signal_ops signal_none;

/* All of them are found by registry_signal_at; a file signal*.c exports FILE_signals[]. */

#endif
