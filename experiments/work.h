/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Busy work of a given length, for think time and handlers. */
#ifndef FANIN_WORK_H
#define FANIN_WORK_H

/* Measures the machine's speed; once, before threads start. */
void work_calibrate(void);

/* Computes for about so many nanoseconds of an undisturbed CPU. It touches no memory, reads no
 * clock and can't be removed by the compiler. Any thread. */
void work_ns(unsigned ns);

#endif
