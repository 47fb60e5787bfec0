/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Prints outcomes: every number as CSV, and in words as a table in Markdown. */
#include "table.h"

#include <stdio.h>

static const char *const ends[] = {
        [CASE_NO_STEP] = "no step",
        [CASE_INSTEAD] = "not visible",
        [CASE_REFUSED] = "refused",
        [CASE_ALL_ONCE] = "all once",
        [CASE_LOST] = "lost",
        [CASE_DOUBLED] = "doubled",
        [CASE_HANGS] = "hangs",
        [CASE_CRASHES] = "crashes",
};

static const char *const stops[] = {
        [CASE_GOES_ON] = "return",
        [CASE_BLOCKED] = "blocked",
        [CASE_FULL] = "full",
};

bool table_same(const struct case_outcome *a, const struct case_outcome *b)
{
        return a->end == b->end && a->other == b->other && a->returned == b->returned &&
               a->earlier == b->earlier && a->later == b->later && a->drained == b->drained;
}

static const char *words_of(unsigned drained)
{
        static const char *const words[] = {
                [CASE_SAID_EMPTY] = "EMPTY",
                [CASE_SAID_STALLED] = "STALLED",
                [CASE_SAID_EMPTY | CASE_SAID_STALLED] = "EMPTY or STALLED",
                [CASE_SAID_MORE] = "MORE",
                [CASE_SAID_EMPTY | CASE_SAID_MORE] = "EMPTY or MORE",
                [CASE_SAID_STALLED | CASE_SAID_MORE] = "STALLED or MORE",
                [CASE_SAID_EMPTY | CASE_SAID_STALLED | CASE_SAID_MORE] = "anything",
                [CASE_DRAIN_BLOCKED] = "blocked",
        };
        return words[drained];
}

/* Nobody was parked: why. */
static bool saw_nothing(const struct stalled_run *run)
{
        return run->outcome->end < CASE_ALL_ONCE;
}

const char *table_end(const struct stalled_run *run)
{
        enum queue_seen seen = run->is.ops->seen;
        bool inside = seen == QUEUE_SEEN || seen == QUEUE_SEEN_AS_X86;
        return ends[run->outcome->end == CASE_NO_STEP && !inside ? CASE_INSTEAD
                                                                 : run->outcome->end];
}

/* A push that ended before its step is told once, and only if it had none before. */
static bool is_row(const struct stalled_run *run)
{
        return run->is.step == 1 || !saw_nothing(run);
}

bool table_csv(const char *path, const struct stalled_run *runs, unsigned count)
{
        FILE *out = fopen(path, "wxe");
        if (!out)
                return false;
        fputs("queue,other_producer,step,pushes,pushes_returned,earlier_came,later_came,drain_says,"
              "after\n",
                out);
        for (unsigned i = 0; i < count; i++) {
                const struct case_outcome *outcome = runs[i].outcome;
                if (!is_row(&runs[i]))
                        continue;
                fprintf(out, "%s,%s,", runs[i].is.ops->name, runs[i].whose);
                if (outcome->end > CASE_REFUSED && outcome->end < CASE_HANGS)
                        fprintf(out, "%u,%s,%u,%u,%u,%s,", runs[i].is.step, stops[outcome->other],
                                outcome->returned, outcome->earlier, outcome->later,
                                words_of(outcome->drained));
                else
                        fputs("NA,NA,NA,NA,NA,NA,", out);
                fprintf(out, "%s\n", table_end(&runs[i]));
        }
        bool whole = !ferror(out);
        return !fclose(out) && whole;
}

static void print_came(unsigned came, unsigned of)
{
        if (!of)
                fputs(" – |", stdout);
        else if (came == of)
                fputs(" all |", stdout);
        else if (came)
                printf(" %u of %u |", came, of);
        else
                fputs(" hidden |", stdout);
}

/* Steps with the same outcome are one line. */
void table_print(const struct stalled_run *runs, unsigned count)
{
        puts("| queue | the other producer | parked at step | its pushes | requests from before | "
             "what it pushed since | drain says | after |\n"
             "| --- | --- | --- | --- | --- | --- | --- | --- |");
        for (unsigned i = 0, last; i < count; i = last + 1) {
                const struct case_outcome *outcome = runs[i].outcome;
                last = i;
                if (!is_row(&runs[i]))
                        continue;
                while (last + 1 < count && runs[last + 1].is.step > runs[i].is.step &&
                        table_same(outcome, runs[last + 1].outcome))
                        last++;
                printf("| `%s` | %s |", runs[i].is.ops->name, runs[i].whose);
                if (saw_nothing(&runs[i]) || outcome->end >= CASE_HANGS) {
                        printf(" – | – | – | – | – | %s |\n", table_end(&runs[i]));
                        continue;
                }
                printf(" %u", runs[i].is.step);
                if (last > i)
                        printf("–%u", runs[last].is.step);
                printf(" | %s |", stops[outcome->other]);
                print_came(outcome->earlier, CASE_EACH);
                print_came(outcome->later, outcome->returned);
                printf(" %s | %s |\n", words_of(outcome->drained), table_end(&runs[i]));
        }
}
