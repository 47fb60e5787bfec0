/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What went wrong, and where: cmocka's asserts may run on the main thread only, so whatever runs
 * beside it notes the first failure here. A watchdog ends a check that hangs, and a crash names the
 * check that it happened in.
 */
#ifndef FANIN_TESTS_REPORT_H
#define FANIN_TESTS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* What watches this build: gcc and clang say it differently. */
#if defined(__SANITIZE_ADDRESS__)
#define REPORT_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define REPORT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REPORT_ASAN 1
#elif __has_feature(thread_sanitizer)
#define REPORT_TSAN 1
#endif
#endif
#ifndef REPORT_ASAN
#define REPORT_ASAN 0
#endif
#ifndef REPORT_TSAN
#define REPORT_TSAN 0
#endif
#define REPORT_SANITIZED (REPORT_ASAN || REPORT_TSAN)

/* Once, before any check: starts the watchdog. A check's run may take hang_s seconds. */
void report_start(unsigned hang_s);

/* A check begins, on the main thread: what sentences about it start with. */
void report_begin(const char *configuration, const char *check, unsigned producers);

/* It ended. The first failure since report_begin, or NULL; valid until the next report_begin. */
const char *report_end(void);

/* Notes a failure, if it is the first. Any thread. */
void report_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What it means if the run hangs from here on, as the watchdog then says; a constant. */
void report_hangs_as(const char *meaning);

/* This run may take so many times as long before the watchdog ends it. */
void report_allow(unsigned times);

/* Has this run failed? Any thread. */
bool report_failed(void);

uint64_t report_now_ns(void);

/* What may be waited for before it counts as hanging: time to say so before the watchdog does. */
uint64_t report_patience_ns(void);

#endif
