/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin list`: what can be configured, as the tables say. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sweep.h"

static const char *order(unsigned traits)
{
        return traits & QUEUE_FIFO_GLOBAL     ? "global FIFO"
               : traits & QUEUE_FIFO_PRODUCER ? "per-producer FIFO"
                                              : "none";
}

static const char *progress(unsigned traits)
{
        return traits & QUEUE_WAIT_FREE   ? "wait-free"
               : traits & QUEUE_LOCK_FREE ? "lock-free"
                                          : "blocking";
}

static const char *yes(unsigned trait)
{
        return trait ? "yes" : "no";
}

static void print_keys(const struct queue_ops *ops)
{
        for (const struct queue_key *key = ops->keys; key && key->name; key++) {
                printf("    %s=", key->name);
                if (key->choices)
                        printf("%s", key->choices);
                else
                        printf("%u…%u (%u)", key->min, key->max, key->otherwise);
                printf("  %s\n", key->help);
        }
}

static void list_text(void)
{
        const struct queue_ops *ops;
        puts("A configuration is queue[:key=value…][/wake[/signal[/alloc]]]; the defaults are "
             "wake\n"
             "pending, signal eventfd (poll: none), alloc malloc.\n\n"
             "queues: order; push; bounded; sees the edge; may stall; bytes of its own per "
             "request");
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                printf("  %-14s %-17s  %-9s  bounded %-3s  edge %-3s  stall %-3s  %2u B\n",
                        ops->name, order(ops->traits), progress(ops->traits),
                        yes(ops->traits & QUEUE_BOUNDED), yes(ops->traits & QUEUE_SEES_EDGE),
                        yes(ops->traits & QUEUE_MAY_STALL), ops->cell_bytes);
                printf("    %s (%s)\n", ops->summary, ops->source);
                print_keys(ops);
        }
        for (unsigned i = 0; registry_left_out[i].what; i++)
                printf("  %s is left out: %s\n", registry_left_out[i].what,
                        registry_left_out[i].reason);
        puts("\nwakes:");
        for (unsigned i = 0; i < WAKE_POLICIES; i++)
                printf("  %-14s %s\n", wake_policies[i].name, wake_policies[i].summary);
        puts("\nsignals:");
        const struct signal_ops *signal;
        for (unsigned i = 0; (signal = registry_signal_at(i)); i++)
                printf("  %-14s %s\n", signal->name, signal->summary);
        puts("\nallocs:\n"
             "  malloc         the producer allocates inside submit, the FFI thread frees\n"
             "  slab           preallocated and touched; nothing is allocated in the submit phase");
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

static void list_csv(void)
{
        const struct queue_ops *ops;
        puts("queue,order,push_progress,bounded,sees_edge,may_stall,cell_bytes,summary,source,"
             "left_out");
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                printf("%s,%s,%s,%s,%s,%s,%u,", ops->name, order(ops->traits),
                        progress(ops->traits), yes(ops->traits & QUEUE_BOUNDED),
                        yes(ops->traits & QUEUE_SEES_EDGE), yes(ops->traits & QUEUE_MAY_STALL),
                        ops->cell_bytes);
                print_quoted(ops->summary);
                putchar(',');
                print_quoted(ops->source);
                puts(",no");
        }
        for (unsigned i = 0; registry_left_out[i].what; i++) {
                print_quoted(registry_left_out[i].what);
                fputs(",NA,NA,NA,NA,NA,NA,NA,NA,", stdout);
                print_quoted(registry_left_out[i].reason);
                putchar('\n');
        }
}

int list_main(int argc, char **argv)
{
        const char *format = "text";
        if (argc == 2 && !strcmp(argv[1], "--help")) {
                puts("usage: fanin list [--format text|csv]\n\n"
                     "Every queue with its promises, every wake policy, signal and allocation.\n\n"
                     "exit: 0 done, 2 usage, or stdout can't be written");
                return EXIT_DONE;
        }
        if (argc == 3 && !strcmp(argv[1], "--format"))
                format = argv[2];
        else if (argc == 2 && !strncmp(argv[1], "--format=", 9))
                format = argv[1] + 9;
        else if (argc != 1)
                die("'%s' is not an option of `fanin list`; allowed: --format text|csv", argv[1]);
        if (!strcmp(format, "text"))
                list_text();
        else if (!strcmp(format, "csv"))
                list_csv();
        else
                die("--format can't be '%s'; allowed: text|csv", format);
        if (fflush(stdout) || ferror(stdout))
                die("stdout can't be written: %s", strerror(errno));
        return EXIT_DONE;
}
