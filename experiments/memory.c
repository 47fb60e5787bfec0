/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Counts what a backend allocates, in a child, whose heap no other backend has used. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "promises.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CANNOT_COUNT
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define CANNOT_COUNT
#elif !__GLIBC_PREREQ(2, 33)
#define CANNOT_COUNT /* no mallinfo2 */
#endif

#ifdef CANNOT_COUNT

struct promises_memory promises_memory_of(const struct queue_ops *ops)
{
        (void)ops;
        return (struct promises_memory){.known = false};
}

#else

enum { FEW = 1, MANY = 101 };

static long allocated(void)
{
        struct mallinfo2 info = mallinfo2();
        return (long)(info.uordblks + info.hblkhd);
}

/*
 * Empties the thread's cache of freed chunks, which mallinfo2 takes for allocated ones, and says
 * how many bytes they were: to take a chunk out of it doesn't change what is allocated.
 */
static long empty_cache(void)
{
        enum { SMALLEST = 24, LARGEST = 1032, STEP = 16, HEADER = 8, EACH = 16 };
        long cached = 0;
        for (size_t bytes = SMALLEST; bytes <= LARGEST; bytes += STEP)
                for (unsigned i = 0; i < EACH; i++) {
                        long before = allocated();
                        void *volatile kept = malloc(bytes); /* the child ends soon */
                        long chunk = (long)malloc_usable_size(kept) + HEADER;
                        cached += before + chunk - allocated();
                }
        return cached;
}

/* In the child: -1, or what create and attach allocated. */
static long count_bytes(const struct queue_ops *ops, unsigned producers)
{
        struct queue_config config = {.producers = producers, .guards = promises_guards(producers)};
        struct queue *queue;
        promises_defaults(ops, config.values);
        mallopt(M_MMAP_MAX, 0); /* whose chunks are rounded up to pages */
        empty_cache();
        long before = allocated();
        if (ops->create(&queue, &config))
                return -1;
        for (unsigned i = 0; ops->attach && i < producers; i++)
                if (ops->attach(queue, i))
                        return -1;
        long after = allocated();
        return after - before - empty_cache();
}

static long count_in_child(const struct queue_ops *ops, unsigned producers)
{
        int ends[2];
        long bytes = -1;
        if (pipe(ends))
                return -1;
        fflush(NULL); /* lest the child prints it again */
        pid_t child = fork();
        if (!child) {
                bytes = count_bytes(ops, producers);
                _exit(write(ends[1], &bytes, sizeof bytes) != sizeof bytes);
        }
        close(ends[1]);
        if (child > 0) {
                if (read(ends[0], &bytes, sizeof bytes) != sizeof bytes)
                        bytes = -1;
                while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        close(ends[0]);
        return bytes;
}

struct promises_memory promises_memory_of(const struct queue_ops *ops)
{
        long few = count_in_child(ops, FEW), many = count_in_child(ops, MANY);
        if (few < 0 || many < 0)
                return (struct promises_memory){.known = false};
        long each = (many - few + (MANY - FEW) / 2) / (MANY - FEW);
        return (struct promises_memory){
                .known = true, .queue_bytes = few - FEW * each, .producer_bytes = each};
}

#endif
