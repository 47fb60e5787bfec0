/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What the commands' --help says before the options. */
#include "settings.h"

const char *settings_introduction(enum settings_use use)
{
        switch (use) {
        case FOR_RUN:
                return "usage: fanin run --config C[,C…] [option…]\n\n"
                       "Measures each configuration at each producer count: samples interleaved in "
                       "a\n"
                       "seeded random order, each a process of its own. Prints submit rate with "
                       "its\n"
                       "interval, the ratio to 1 producer, completion rate and wakes per "
                       "submit.\n\n"
                       "  fanin run --config reference --producers 1,8,64\n"
                       "  fanin run --config vyukov/every,vyukov/edge --out runs/wake\n\n";
        case FOR_GATE:
                return "usage: fanin gate [option…]\n\n"
                       "The reference's scaling gate: the submit rate at the last producer count "
                       "must be\n"
                       "1.5 times that at the first, and at least --min-share of the `private` "
                       "ceiling's\n"
                       "at the last count. Its knobs are the reference's environment variables:\n"
                       "  FFI_SUBMIT_PER_THREAD  requests per producer and round (20000)\n"
                       "  FFI_SUBMIT_ITERS       samples per count (5)\n"
                       "  FFI_SUBMIT_THREADS     producer counts, first is the base, last the peak "
                       "(1,2,4,8)\n"
                       "  FFI_SCALING_GATE       0: report only (1)\n\n";
        case FOR_BARS:
                return "usage: fanin bars [option…]\n\n"
                       "What each queue adds to a submit: producer CPU ns beside those of "
                       "`private`, "
                       "which\n"
                       "has no queue, with slab, under the wake policies that cost a producer "
                       "least; "
                       "at 1,\n"
                       "2, 8, 32 and 100 producers. Then the bars that lanes, percpu and ck_ring "
                       "are "
                       "held\n"
                       "to, each figure beside its bar. `make bench-queues` runs it. Defaults "
                       "other "
                       "than below:\n"
                       "--producers 1,2,8,32,100 --min-time 0.04 --max-sample 0.3 "
                       "--deadline 3\n\n";
        case FOR_LATENCY:
                return "usage: fanin latency --config C[,C…] [--rate R[,R…]] [option…]\n\n"
                       "Latency against load, open loop: producers submit at intended times, "
                       "whatever "
                       "the\n"
                       "FFI thread does, and the wait for the callback is counted from the "
                       "intended "
                       "time, so\n"
                       "that a stall is seen by all whom it holds up. Without --rate it rises "
                       "until a\n"
                       "configuration no longer keeps up: saturation.\n\n"
                       "  fanin latency --config reference --rate 10000,100000\n"
                       "  fanin latency --config lanes/flag --stall-ms 100 --rate 20000 --duration "
                       "3\n\n";
        case FOR_LATENCY_SAMPLE:
                return "usage: fanin latency-sample --config C --producers N --rate R [option…]\n\n"
                       "One sample, as `fanin latency` executes it; prints key=value pairs.\n\n";
        case FOR_VERDICT:
                return "usage: fanin verdict DIR|FILE.csv [option…]\n\n"
                       "Collapse, plateau, scaling or inconclusive: for each configuration of a "
                       "run\n"
                       "directory, or of a table with the columns config, producers and "
                       "submit_per_s;\n"
                       "with its peak, the share kept at the top, and a Universal Scalability Law "
                       "fit.\n"
                       "The rule stands in the README. Exit 0: at least one verdict; 3: all "
                       "inconclusive.\n\n"
                       "  fanin verdict "
                       "experiments/data/published/nim-ffi-apple-m5-2026-06-25.csv\n\n";
        case FOR_COMPARE:
                return "usage: fanin compare A B [option…]\n\n"
                       "Two run directories. Of one machine: B's rates over A's with intervals, at "
                       "most\n"
                       "5 % false alarms for the whole comparison; exit 0 no regression, 1 "
                       "regressed,\n"
                       "3 inconclusive. Of two machines: who collapses, who plateaus, the ranking "
                       "at the\n"
                       "top; never absolute rates.\n\n";
        case FOR_DOCTOR:
                return "usage: fanin doctor [--strict]\n\n"
                       "What disturbs measurements on this machine, each item fine, fixable (with "
                       "the\n"
                       "command) or unknowable; and what the harness itself adds to a submit.\n\n";
        case FOR_SAMPLE:
                return "usage: fanin sample --config C --producers N [option…]\n\n"
                       "One sample, as `fanin run` executes it; prints key=value pairs.\n\n";
        }
        return "";
}
