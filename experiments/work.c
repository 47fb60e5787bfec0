/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Busy work: a chain of dependent multiplications, counted rather than clocked, since a clock read
 * costs as much as what is to be imitated.
 */
#include "work.h"

#include "clock.h"

enum { CALIBRATION_STEPS = 200000, CALIBRATION_TRIES = 7 };

static double steps_per_ns;

static void work_steps(uint64_t steps)
{
        uint64_t x = steps;
        while (steps--) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                __asm__ volatile("" : "+r"(x)); /* each step's result counts */
        }
}

void work_calibrate(void)
{
        uint64_t least_ns = UINT64_MAX;
        for (int i = 0; i < CALIBRATION_TRIES; i++) {
                uint64_t start_ns = clock_wall_ns();
                work_steps(CALIBRATION_STEPS);
                uint64_t ns = clock_wall_ns() - start_ns;
                least_ns = ns < least_ns ? ns : least_ns; /* noise only adds */
        }
        steps_per_ns = (double)CALIBRATION_STEPS / (double)(least_ns ? least_ns : 1);
}

void work_ns(unsigned ns)
{
        work_steps((uint64_t)(ns * steps_per_ns));
}
