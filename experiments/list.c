/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * `fanin list`: what can be configured, as the tables, create and malloc say. csv has every column
 * of the queues; markdown has what is the same on every machine, for the docs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "promises.h"

static const struct {
        const char *word, *means;
} legend[] = {
        {"global FIFO", "if one push returned before another began, so they come out"},
        {"per-producer FIFO", "each producer's requests come out in the order it pushed them, "
                              "those of different producers in any: locally linearizable (Haas "
                              "et al., CONCUR 2016)"},
        {"none", "no order is promised, not even of one producer's requests"},
        {"wait-free", "a push ends in a bounded number of its own steps, malloc aside"},
        {"lock-free", "some push ends, however the others are scheduled"},
        {"blocking", "neither is claimed: a push may wait for another producer, or be sent back "
                     "for ever"},
        {"bounded", "a push may be refused: full"},
        {"edge", "a push that finds its list empty says so, as wake policy edge needs"},
        {"stall", "a producer stopped mid-push can hide pushes that returned, and drain then says "
                  "STALLED; where it says no, drain may itself wait for that producer"},
        {"spins", "a push may wait for another without yielding its CPU"},
        {"allocates", "a push may allocate, though slab preallocates"},
        {"B/request", "bytes of the queue's own per request; 0: linked through the request"},
        {"seen: all", "sanitizers see every access of the backend"},
        {"seen: as x86", "they see a library's assembly through stand-ins that read its loads as "
                         "acquire and its stores as release: clean means no race under that "
                         "reading, not that the library's fences suffice on aarch64"},
        {"seen: as told", "accesses they can't see are announced to them: clean means no race if "
                          "what was announced synchronises, which is not checked"},
        {"seen: not checked", "they see nothing inside: clean means nothing"},
};

enum { LEGEND = sizeof legend / sizeof *legend };

static const char *yes(unsigned trait)
{
        return trait ? "yes" : "no";
}

/* The value's name, of a key with choices. */
static void print_choice(FILE *out, const char *choices, unsigned value)
{
        while (value--)
                choices += strcspn(choices, "|") + 1;
        fprintf(out, "%.*s", (int)strcspn(choices, "|"), choices);
}

/* "shards=1…1024 (16), by=producer|cpu (producer)": the default in brackets. */
static void print_keys(FILE *out, const struct queue_ops *ops)
{
        for (const struct queue_key *key = ops->keys; key && key->name; key++) {
                fprintf(out, "%s%s=", key == ops->keys ? "" : ", ", key->name);
                if (key->choices) {
                        fprintf(out, "%s (", key->choices);
                        print_choice(out, key->choices, key->otherwise);
                        fputs(")", out);
                } else {
                        fprintf(out, "%u…%u (%u)", key->min, key->max, key->otherwise);
                }
        }
}

/* Whether a key of an earlier queue has the same name and help. */
static bool helped_before(unsigned i, const struct queue_key *key)
{
        while (i--)
                for (const struct queue_key *other = registry_at(i)->keys; other && other->name;
                        other++)
                        if (!strcmp(other->name, key->name) && !strcmp(other->help, key->help))
                                return true;
        return false;
}

static void print_key_help(void)
{
        const struct queue_ops *ops;
        puts("\nkeys");
        for (unsigned i = 0; (ops = registry_at(i)); i++)
                for (const struct queue_key *key = ops->keys; key && key->name; key++)
                        if (!helped_before(i, key))
                                printf("  %-10s of %s…: %s\n", key->name, ops->name, key->help);
}

/* One more of the remarks on the third line. */
static void print_remark(unsigned *remarks, const char *text, const char *rest)
{
        printf("%s%s%s", (*remarks)++ ? ". " : "    ", text, rest);
}

static void print_remarks(const struct queue_ops *ops, const struct promises *promises)
{
        char *variants = promises_variants(ops);
        unsigned remarks = 0;
        if (ops->keys) {
                print_remark(&remarks, "", "");
                print_keys(stdout, ops);
        }
        if (*variants)
                print_remark(&remarks, variants, "");
        if (ops->wait)
                print_remark(&remarks, "has its own wait", "");
        if (promises->traits & QUEUE_ALLOCATES)
                print_remark(&remarks, "a push may allocate, in slab too", "");
        if (promises->instead)
                print_remark(&remarks, promises->instead, " runs in its place here");
        if (promises->error)
                print_remark(&remarks, "refused here: ", strerror(promises->error));
        if (remarks)
                putchar('\n');
        free(variants);
}

static void print_queue(const struct queue_ops *ops)
{
        struct promises promises = promises_of(ops);
        struct promises_memory memory = promises_memory_of(ops);
        char bytes[64] = "NA";
        if (memory.known)
                snprintf(bytes, sizeof bytes, "%ld + %ld/producer", memory.queue_bytes,
                        memory.producer_bytes);
        printf("  %-16s %-18s %-10s %-8s %-5s %-6s %-6s %9u  %-22s %s\n", ops->name,
                promises_order(promises.traits), promises_progress(promises.traits),
                yes(promises.traits & QUEUE_BOUNDED), yes(promises.traits & QUEUE_SEES_EDGE),
                yes(promises.traits & QUEUE_MAY_STALL), yes(promises.traits & QUEUE_SPINS),
                ops->cell_bytes, bytes, promises_seen(ops->seen));
        printf("    %s (%s)\n", ops->summary, ops->source);
        print_remarks(ops, &promises);
}

/* What this build leaves out, of one directory. */
static void print_left_out(const char *directory)
{
        for (unsigned i = 0; registry_left_out[i].what; i++)
                if (strstr(registry_left_out[i].what, directory))
                        printf("  %s is left out: %s\n", registry_left_out[i].what,
                                registry_left_out[i].reason);
}

static void list_text(void)
{
        const struct queue_ops *ops;
        puts("A configuration is queue[:key=value…][/wake[/signal[/alloc]]]; the defaults are "
             "wake\n"
             "pending, signal eventfd (poll, own: none), alloc malloc.\n\nqueues");
        printf("  %-16s %-18s %-10s %-8s %-5s %-6s %-6s %9s  %-22s %s\n", "", "order", "push",
                "bounded", "edge", "stall", "spins", "B/request", "B/queue", "seen");
        for (unsigned i = 0; (ops = registry_at(i)); i++)
                print_queue(ops);
        print_left_out("queues/");
        puts("\nwhat the words mean");
        for (unsigned i = 0; i < LEGEND; i++)
                printf("  %-18s %s\n", legend[i].word, legend[i].means);
        puts("  B/queue            counted in malloc before the first request, nothing "
             "preallocated (NA: this build can't)");
        print_key_help();
        puts("\nwakes");
        for (unsigned i = 0; i < WAKE_POLICIES; i++)
                printf("  %-14s %s%s\n", wake_policies[i].name, wake_policies[i].summary,
                        wake_policies[i].needs & WAKE_NEEDS_MEMBARRIER &&
                                        atomic_load(&queue_guard_fenced)
                                ? "; refused here: the kernel has no membarrier"
                                : "");
        puts("\nsignals");
        const struct signal_ops *signal;
        for (unsigned i = 0; (signal = registry_signal_at(i)); i++)
                printf("  %-14s %s\n", signal->name, signal->summary);
        print_left_out("engine/");
        puts("\nallocs\n"
             "  malloc         the producer allocates inside submit, the FFI thread frees\n"
             "  slab           preallocated and touched; nothing is allocated in the submit phase, "
             "unless the\n                 queue allocates, or a producer that stops inside a push "
             "holds "
             "up the\n                 reuse of its cells");
}

/* RFC 4180. */
static void print_quoted(const char *text)
{
        putchar('"');
        for (; *text; text++) {
                if (*text == '"')
                        putchar('"');
                putchar(*text);
        }
        putchar('"');
}

static void print_csv_row(const struct queue_ops *ops)
{
        struct promises promises = promises_of(ops);
        struct promises_memory memory = promises_memory_of(ops);
        char *variants = promises_variants(ops);
        printf("%s,%s,%s,%s,%s,%s,%u,", ops->name, promises_order(promises.traits),
                promises_progress(promises.traits), yes(promises.traits & QUEUE_BOUNDED),
                yes(promises.traits & QUEUE_SEES_EDGE), yes(promises.traits & QUEUE_MAY_STALL),
                ops->cell_bytes);
        print_quoted(ops->summary);
        putchar(',');
        print_quoted(ops->source);
        printf(",no,%s,%s,%s,", yes(promises.traits & QUEUE_SPINS), yes(!!ops->wait),
                yes(promises.traits & QUEUE_ALLOCATES));
        if (memory.known)
                printf("%ld,%ld,", memory.queue_bytes, memory.producer_bytes);
        else
                fputs("NA,NA,", stdout);
        printf("%s,\"", promises_seen(ops->seen));
        print_keys(stdout, ops);
        fputs("\",", stdout);
        print_quoted(variants);
        putchar(',');
        puts(promises.error ? "refused" : promises.instead ? promises.instead : "no");
        free(variants);
}

static void list_csv(void)
{
        const struct queue_ops *ops;
        puts("queue,order,push_progress,bounded,sees_edge,may_stall,cell_bytes,summary,source,"
             "left_out,spins,own_wait,push_allocates,queue_bytes,producer_bytes,seen,keys,variants,"
             "instead");
        for (unsigned i = 0; (ops = registry_at(i)); i++)
                print_csv_row(ops);
        for (unsigned i = 0; registry_left_out[i].what; i++) {
                print_quoted(registry_left_out[i].what);
                fputs(",NA,NA,NA,NA,NA,NA,NA,NA,", stdout);
                print_quoted(registry_left_out[i].reason);
                puts(",NA,NA,NA,NA,NA,NA,NA,NA,NA");
        }
}

/* No number that the machine has a say in. */
static void list_markdown(void)
{
        const struct queue_ops *ops;
        puts("| queue | what | order | push | bounded | edge | stall | spins | allocates | "
             "B/request | "
             "seen | with other keys |\n"
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                struct promises promises = promises_of(ops);
                char *variants = promises_variants(ops);
                printf("| `%s` | %s (%s) | %s | %s | %s | %s | %s | %s | %s | %u | %s | %s |\n",
                        ops->name, ops->summary, ops->source, promises_order(promises.traits),
                        promises_progress(promises.traits), yes(promises.traits & QUEUE_BOUNDED),
                        yes(promises.traits & QUEUE_SEES_EDGE),
                        yes(promises.traits & QUEUE_MAY_STALL), yes(promises.traits & QUEUE_SPINS),
                        yes(promises.traits & QUEUE_ALLOCATES), ops->cell_bytes,
                        promises_seen(ops->seen), variants);
                free(variants);
        }
        putchar('\n');
        for (unsigned i = 0; i < LEGEND; i++)
                printf("- *%s*: %s.\n", legend[i].word, legend[i].means);
}

/* Names alone, for scripts. */
static void list_wakes(void)
{
        for (unsigned i = 0; i < WAKE_POLICIES; i++)
                puts(wake_policies[i].name);
}

static void list_signals(void)
{
        const struct signal_ops *ops;
        for (unsigned i = 0; (ops = registry_signal_at(i)); i++)
                puts(ops->name);
}

int list_main(int argc, char **argv, int all_count, char **all)
{
        (void)all_count, (void)all;
        static const struct {
                const char *name;
                void (*print)(void);
        } formats[] = {{"text", list_text}, {"csv", list_csv}, {"markdown", list_markdown},
                {"wakes", list_wakes}, {"signals", list_signals}};
        const char *format = "text";
        if (argc == 2 && !strcmp(argv[1], "--help")) {
                puts("usage: fanin list [--format text|csv|markdown|wakes|signals]\n\n"
                     "Every queue with its promises and its memory, every wake policy, signal and "
                     "allocation.\n"
                     "csv: the queues, with all columns; markdown: what queues/README.md shows; "
                     "wakes,\nsignals: their names.\n\n"
                     "exit: 0 done, 2 usage, or stdout can't be written");
                return EXIT_DONE;
        }
        if (argc == 3 && !strcmp(argv[1], "--format"))
                format = argv[2];
        else if (argc == 2 && !strncmp(argv[1], "--format=", 9))
                format = argv[1] + 9;
        else if (argc != 1)
                die("'%s' is not an option of `fanin list`; allowed: --format "
                    "text|csv|markdown|wakes|signals",
                        argv[1]);
        queue_guard_init();
        for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++) {
                if (strcmp(format, formats[i].name) != 0)
                        continue;
                formats[i].print();
                if (fflush(stdout) || ferror(stdout))
                        die("stdout can't be written: %s", strerror(errno));
                return EXIT_DONE;
        }
        die("--format can't be '%s'; allowed: text|csv|markdown|wakes|signals", format);
}
