/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The measuring program: dispatches its commands. It never leaves the C locale. */
#include <stdio.h>
#include <string.h>

#include "commands.h"

/* all is the program's whole line; argv[0] the command's name. */
static const struct command {
        const char *name, *summary; /* NULL: for the program itself */
        int (*run)(int argc, char **argv, int all_count, char **all);
} commands[] = {
        {"list", "the queues with their promises, the wake policies, signals, allocations",
                list_main},
        {"run", "measure configurations over producer counts: table, CSV, JSON, run directory",
                run_main},
        {"latency", "submit cost and latency from the intended time, against load", latency_main},
        {"verdict", "collapse, plateau or scaling: of a run or a published table", verdict_main},
        {"compare", "two runs: regressed or not; of two machines, claim by claim", compare_main},
        {"doctor", "what disturbs measurements here, and what the harness costs", doctor_main},
        {"gate", "the reference's scaling gate, with a second criterion", gate_main},
        {"bars", "what each queue adds to a submit, and the bars that some are held to", bars_main},
        {"sample", NULL, sample_command},
        {"latency-sample", NULL, latency_sample_command},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *file)
{
        fputs("usage: fanin COMMAND [option…]\n\n"
              "When many threads submit requests to one FFI thread, what makes throughput "
              "collapse, and\n"
              "what makes it plateau? fanin swaps the queue between them, the wake policy, the "
              "signal and\n"
              "the allocation, one at a time, and measures.\n\n",
                file);
        for (unsigned i = 0; i < COMMANDS; i++)
                if (commands[i].summary)
                        fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].summary);
        fputs("\nEach has its --help. Start with:  fanin run --config reference --producers "
              "1,8,64\n\n"
              "exit: 0 done, 1 a gate or check failed, 2 usage, 3 inconclusive, 4 a correctness "
              "rule\n"
              "broken (lost, doubled, disordered, lost wake), 130 interrupted\n",
                file);
}

int main(int argc, char **argv)
{
        char why[256], names[256] = "";
        if (!registry_check(why, sizeof why))
                die("the table of queues is unsound: %s", why);
        if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
                print_help(argc < 2 ? stderr : stdout);
                return argc < 2 ? EXIT_USAGE : EXIT_DONE;
        }
        for (unsigned i = 0; i < COMMANDS; i++) {
                if (!strcmp(argv[1], commands[i].name))
                        return commands[i].run(argc - 1, argv + 1, argc, argv);
                size_t used = strlen(names);
                if (commands[i].summary)
                        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                commands[i].name);
        }
        die("'%s' is not a command; allowed: %s", argv[1], names);
}
