/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The signals, a const table each. Descriptors are non-blocking: EAGAIN on a send means that the
 * signal is raised already, a reset reads until EAGAIN.
 *
 * Memory order: what a sender wrote before send is seen after a reset or wait that consumed it. The
 * kernel's locks give that for descriptors, the mutex for condvar, acquire and release for futex.
 */
#include "signal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec deadline_after(int timeout_ms)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        t.tv_sec += timeout_ms / 1000;
        t.tv_nsec += timeout_ms % 1000 * 1000000L;
        if (t.tv_nsec >= 1000000000L) {
                t.tv_sec++;
                t.tv_nsec -= 1000000000L;
        }
        return t;
}

/* Descriptors. */

static bool fd_wait(struct signal *signal, int timeout_ms)
{
        struct pollfd fd = {.fd = signal->read_fd, .events = POLLIN};
        return poll(&fd, 1, timeout_ms) > 0; /* EINTR reads as an early timeout: the caller looks */
}

static bool fd_reset(struct signal *signal)
{
        char bytes[4096];
        bool raised = false;
        while (read(signal->read_fd, bytes, sizeof bytes) > 0)
                raised = true;
        return raised;
}

static void fd_destroy(struct signal *signal)
{
        close(signal->read_fd);
        if (signal->write_fd != signal->read_fd)
                close(signal->write_fd);
}

static void fd_write(struct signal *signal, const void *bytes, size_t count)
{
        while (write(signal->write_fd, bytes, count) < 0 && errno == EINTR)
                ;
}

static int eventfd_create(struct signal *signal)
{
        signal->read_fd = signal->write_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        return signal->read_fd < 0 ? -errno : 0;
}

static bool eventfd_send(struct signal *signal)
{
        uint64_t one = 1;
        fd_write(signal, &one, sizeof one);
        return true;
}

static int pair_create(struct signal *signal, int error, const int fds[2])
{
        signal->read_fd = fds[0];
        signal->write_fd = fds[1];
        return error ? -errno : 0;
}

static int pipe_create(struct signal *signal)
{
        int fds[2];
        return pair_create(signal, pipe2(fds, O_NONBLOCK | O_CLOEXEC), fds);
}

static bool byte_send(struct signal *signal)
{
        fd_write(signal, "", 1);
        return true;
}

static int socketpair_create(struct signal *signal)
{
        int fds[2];
        int type = SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
        return pair_create(signal, socketpair(AF_UNIX, type, 0, fds), fds);
}

/* The reference's path outside Linux: peek whether a datagram is there already, else send one. */
static bool socketpair_send(struct signal *signal)
{
        char byte;
        if (recv(signal->read_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
                return false;
        return byte_send(signal);
}

/* Futex. */

static long futex(
        struct signal *signal, int operation, uint32_t value, const struct timespec *timeout)
{
        return syscall(SYS_futex, &signal->raised, operation | FUTEX_PRIVATE_FLAG, value, timeout,
                NULL, FUTEX_BITSET_MATCH_ANY);
}

static int futex_create(struct signal *signal)
{
        atomic_store_explicit(&signal->raised, 0, memory_order_relaxed);
        return 0;
}

static bool futex_send(struct signal *signal)
{
        /* Release, with the acquire in futex_reset. An exchange, not a store: of two senders whose
         * sends one reset consumes, it must see both, and only a read-modify-write continues the
         * other's release sequence. */
        atomic_exchange_explicit(&signal->raised, 1, memory_order_release);
        futex(signal, FUTEX_WAKE, 1, NULL);
        return true;
}

static bool futex_wait(struct signal *signal, int timeout_ms)
{
        struct timespec deadline;
        if (timeout_ms >= 0)
                deadline = deadline_after(timeout_ms);
        while (!atomic_load_explicit(&signal->raised, memory_order_relaxed))
                /* FUTEX_WAIT_BITSET: the deadline is absolute, so a spurious return loses no time.
                 */
                if (futex(signal, FUTEX_WAIT_BITSET, 0, timeout_ms >= 0 ? &deadline : NULL) < 0 &&
                        errno == ETIMEDOUT)
                        return false;
        return true;
}

static bool futex_reset(struct signal *signal)
{
        /* Acquire, with the release in futex_send. */
        return atomic_exchange_explicit(&signal->raised, 0, memory_order_acquire);
}

static void nothing_to_destroy(struct signal *signal)
{
        (void)signal;
}

/* Condition variable. */

static int condvar_create(struct signal *signal)
{
        pthread_condattr_t attributes;
        signal->raised_under_mutex = false;
        int error = pthread_mutex_init(&signal->mutex, NULL);
        if (error)
                return -error;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        error = pthread_cond_init(&signal->condition, &attributes);
        pthread_condattr_destroy(&attributes);
        if (error)
                pthread_mutex_destroy(&signal->mutex);
        return -error;
}

static void condvar_destroy(struct signal *signal)
{
        pthread_cond_destroy(&signal->condition);
        pthread_mutex_destroy(&signal->mutex);
}

static bool condvar_send(struct signal *signal)
{
        pthread_mutex_lock(&signal->mutex);
        signal->raised_under_mutex = true;
        pthread_cond_signal(&signal->condition);
        pthread_mutex_unlock(&signal->mutex);
        return true;
}

static bool condvar_wait(struct signal *signal, int timeout_ms)
{
        struct timespec deadline;
        if (timeout_ms >= 0)
                deadline = deadline_after(timeout_ms);
        int error = 0;
        pthread_mutex_lock(&signal->mutex);
        while (!signal->raised_under_mutex && error != ETIMEDOUT)
                error = timeout_ms < 0 ? pthread_cond_wait(&signal->condition, &signal->mutex)
                                       : pthread_cond_timedwait(
                                                 &signal->condition, &signal->mutex, &deadline);
        bool raised = signal->raised_under_mutex;
        pthread_mutex_unlock(&signal->mutex);
        return raised;
}

static bool condvar_reset(struct signal *signal)
{
        pthread_mutex_lock(&signal->mutex);
        bool raised = signal->raised_under_mutex;
        signal->raised_under_mutex = false;
        pthread_mutex_unlock(&signal->mutex);
        return raised;
}

/* None. */

static int none_create(struct signal *signal)
{
        (void)signal;
        return 0;
}

static bool none_send(struct signal *signal)
{
        (void)signal;
        return false;
}

static bool none_wait(struct signal *signal, int timeout_ms)
{
        (void)signal;
        struct timespec deadline = deadline_after(timeout_ms);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
                ;
        return false;
}

static bool none_reset(struct signal *signal)
{
        (void)signal;
        return false;
}

static const struct signal_ops signal_eventfd = {"eventfd", "write to a counter in the kernel",
        eventfd_create, fd_destroy, eventfd_send, fd_wait, fd_reset};
static const struct signal_ops signal_futex = {"futex", "store a word, FUTEX_WAKE", futex_create,
        nothing_to_destroy, futex_send, futex_wait, futex_reset};
static const struct signal_ops signal_condvar = {"condvar", "a flag under a pthread condition",
        condvar_create, condvar_destroy, condvar_send, condvar_wait, condvar_reset};
static const struct signal_ops signal_pipe = {
        "pipe", "write a byte", pipe_create, fd_destroy, byte_send, fd_wait, fd_reset};
static const struct signal_ops signal_socketpair = {"socketpair",
        "datagram; peek, then send: the reference's path outside Linux", socketpair_create,
        fd_destroy, socketpair_send, fd_wait, fd_reset};
const struct signal_ops signal_none = {"none",
        "nobody is woken (only with the policies poll and own)", none_create, nothing_to_destroy,
        none_send, none_wait, none_reset};

extern const struct signal_ops *const signal_signals[];
const struct signal_ops *const signal_signals[] = {&signal_eventfd, &signal_futex, &signal_condvar,
        &signal_pipe, &signal_socketpair, &signal_none, NULL};
