/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin doctor`: a line for each thing that disturbs measurements, then what measuring costs. */
#include "doctor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "commands.h"
#include "cost.h"
#include "producers.h"

enum { LOOK_MS = 200 };

void doctor_say(
        struct doctor_finding *finding, enum doctor_verdict verdict, const char *format, ...)
{
        va_list arguments;
        finding->verdict = verdict;
        va_start(arguments, format);
        vsnprintf(finding->text, sizeof finding->text, format, arguments);
        va_end(arguments);
}

void doctor_advise(struct doctor_finding *finding, const char *format, ...)
{
        va_list arguments;
        finding->verdict = DOCTOR_FIXABLE;
        va_start(arguments, format);
        vsnprintf(finding->command, sizeof finding->command, format, arguments);
        va_end(arguments);
}

/* True if it can be fixed. */
static bool print_finding(const char *name, const struct doctor_finding *finding)
{
        static const char *const verdicts[] = {"fine", "fixable", "unknowable"};
        bool fixable = finding->verdict == DOCTOR_FIXABLE;
        printf("%-12s  %-10s  %s%s%s\n", name, verdicts[finding->verdict], finding->text,
                fixable ? "; to fix: " : "", fixable ? finding->command : "");
        return fixable;
}

static unsigned print_checks(const struct doctor_check *checks)
{
        unsigned fixable = 0;
        for (; checks->name; checks++) {
                struct doctor_finding finding = {.text = ""};
                checks->examine(&finding);
                fixable += print_finding(checks->name, &finding);
        }
        return fixable;
}

static unsigned print_looks(void)
{
        struct doctor_finding load = {.text = ""}, steal = {.text = ""};
        struct doctor_times before = doctor_times_read();
        usleep(LOOK_MS * 1000);
        struct doctor_times after = doctor_times_read();
        doctor_load(&load, &before, &after);
        doctor_steal(&steal, &before, &after);
        unsigned fixable = print_finding("other load", &load);
        return fixable + print_finding("steal", &steal);
}

static void print_cost(const char *what, const struct median *cost, const char *unit)
{
        if (isnan(cost->median))
                printf("  %-34s      NA\n", what);
        else
                printf("  %-34s %7.2f [%.2f, %.2f] %s\n", what, cost->median, cost->lo, cost->hi,
                        unit);
}

static void print_costs(void)
{
        char why[256], every[64];
        struct cost_submit submit;
        struct median check = cost_check_ns(), read = cost_clock_read_ns();
        puts("\nwhat measuring costs: medians with 95 % intervals, of one producer");
        if (cost_submit(&submit, why, sizeof why)) {
                print_cost("a submit in a bare loop", &submit.bare_ns, "ns");
                print_cost("a submit in the measuring loop", &submit.measured_ns, "ns");
                print_cost("the harness's own cost per submit", &submit.added_ns, "ns");
        } else {
                printf("  %-34s      NA: %s\n", "the harness's own cost per submit", why);
        }
        print_cost("the exactly-once check", &check, "ns per callback, on the FFI thread");
        snprintf(every, sizeof every, "ns, once in %d submits", PRODUCERS_CLOCK_EVERY);
        print_cost("a read of the clock", &read, every);
        printf("both loops turn about, each into %s, which only keeps\n", cost_config);
}

int doctor_main(int argc, char **argv, int all_count, char **all)
{
        (void)all_count, (void)all;
        struct settings settings;
        settings_init(&settings);
        settings_parse(&settings, FOR_DOCTOR, argc, argv);
        unsigned fixable = print_checks(doctor_cpu_checks);
        fixable += print_checks(doctor_system_checks);
        fixable += print_looks();
        print_costs();
        bool failed = settings.strict && fixable;
        settings_free(&settings);
        return failed ? EXIT_FAILED : EXIT_DONE;
}
