/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The measuring program: dispatches its commands. It never leaves the C locale. */
#include <stdio.h>
#include <string.h>

#include "sample.h"
#include "sweep.h"

static const char help[] =
        "usage: fanin COMMAND [option…]\n\n"
        "When many threads submit requests to one FFI thread, what makes throughput collapse, and\n"
        "what makes it plateau? fanin swaps the queue between them, the wake policy, the signal "
        "and\n"
        "the allocation, one at a time, and measures.\n\n"
        "  list    the queues with their promises, the wake policies, signals, allocations\n"
        "  run     measure configurations over producer counts: table, CSV, JSON, run directory\n"
        "  gate    the reference's scaling gate, with a second criterion\n"
        "  bars    what each queue adds to a submit, and the bars that some are held to\n"
        "  sample  one sample, as `run` executes it\n\n"
        "Each has its --help. Start with:  fanin run --config reference --producers 1,8,64\n\n"
        "exit: 0 done, 1 a gate or check failed, 2 usage, 3 inconclusive, 4 a correctness rule\n"
        "broken (lost, doubled, disordered, lost wake), 130 interrupted\n";

static int sample_command(int argc, char **argv)
{
        struct settings settings;
        settings_init(&settings);
        settings_parse(&settings, FOR_SAMPLE, argc, argv);
        int code = sample_main(&settings);
        settings_free(&settings);
        return code;
}

int main(int argc, char **argv)
{
        char why[256];
        if (!registry_check(why, sizeof why))
                die("the table of queues is unsound: %s", why);
        if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
                fputs(help, argc < 2 ? stderr : stdout);
                return argc < 2 ? EXIT_USAGE : EXIT_DONE;
        }
        if (!strcmp(argv[1], "list"))
                return list_main(argc - 1, argv + 1);
        if (!strcmp(argv[1], "run"))
                return run_main(argc - 1, argv + 1, argc, argv);
        if (!strcmp(argv[1], "gate"))
                return gate_main(argc - 1, argv + 1, argc, argv);
        if (!strcmp(argv[1], "bars"))
                return bars_main(argc - 1, argv + 1, argc, argv);
        if (!strcmp(argv[1], "sample"))
                return sample_command(argc - 1, argv + 1);
        die("'%s' is not a command; allowed: list, run, gate, bars, sample", argv[1]);
}
