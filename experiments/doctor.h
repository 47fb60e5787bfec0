/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What `fanin doctor` looks at. Files of /proc and /sys are below cgroup_root. */
#ifndef FANIN_DOCTOR_H
#define FANIN_DOCTOR_H

enum doctor_verdict { DOCTOR_FINE, DOCTOR_FIXABLE, DOCTOR_UNKNOWABLE };

struct doctor_finding {
        enum doctor_verdict verdict;
        char text[160];    /* what was found; of what can't be known: why */
        char command[320]; /* of what can be fixed: what to run */
};

struct doctor_check {
        const char *name;
        void (*examine)(struct doctor_finding *);
};

/* Tables that a NULL name ends: of the CPUs, and of kernel and system. */
extern const struct doctor_check doctor_cpu_checks[], doctor_system_checks[];

/* What all CPUs together did since the system started, as /proc/stat counts it. */
struct doctor_times {
        double busy, stolen, all; /* all 0: it can't be read */
};

struct doctor_times doctor_times_read(void);

/* Between two readings, during which this process slept. */
void doctor_load(struct doctor_finding *, const struct doctor_times *before,
        const struct doctor_times *after);
void doctor_steal(struct doctor_finding *, const struct doctor_times *before,
        const struct doctor_times *after);

/* For the checks. */
void doctor_say(struct doctor_finding *, enum doctor_verdict, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void doctor_advise(struct doctor_finding *, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

#endif
