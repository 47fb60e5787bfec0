/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Creates each backend under its keys' other values. */
#include "promises.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

enum {
        KNOWN_BACKLOG = 1024,
        REFUSED = -1,
        CONDITIONS_MAX = 16, /* of one key */
        SAMPLES_MAX = 3,     /* values that stand for a condition */
        CONDITION_BYTES = 160,
};

const char *promises_order(unsigned traits)
{
        return traits & QUEUE_FIFO_GLOBAL     ? "global FIFO"
               : traits & QUEUE_FIFO_PRODUCER ? "per-producer FIFO"
                                              : "none";
}

const char *promises_progress(unsigned traits)
{
        return traits & QUEUE_WAIT_FREE   ? "wait-free"
               : traits & QUEUE_LOCK_FREE ? "lock-free"
                                          : "blocking";
}

const char *promises_seen(enum queue_seen seen)
{
        static const char *const words[] = {
                [QUEUE_SEEN] = "all",
                [QUEUE_SEEN_AS_X86] = "as x86",
                [QUEUE_SEEN_AS_TOLD] = "as told",
                [QUEUE_UNSEEN] = "not checked",
        };
        return words[seen];
}

void promises_defaults(const struct queue_ops *ops, unsigned *values)
{
        memset(values, 0, QUEUE_KEYS_MAX * sizeof *values);
        for (unsigned k = 0; ops->keys && ops->keys[k].name; k++)
                values[k] = ops->keys[k].otherwise;
}

struct queue_guard *promises_guards(unsigned producers)
{
        size_t bytes = producers * sizeof(struct queue_guard);
        struct queue_guard *guards = aligned_alloc(alignof(struct queue_guard), bytes);
        if (guards)
                memset(guards, 0, bytes);
        else
                die("no memory for %zu bytes", bytes);
        return guards;
}

static struct promises create(const struct queue_ops *ops, const unsigned *values, size_t backlog)
{
        struct promises promises = {.traits = ops->traits};
        struct queue *queue;
        struct queue_config config = {
                .producers = 2, .backlog = backlog, .guards = promises_guards(2)};
        memcpy(config.values, values, sizeof config.values);
        promises.error = -ops->create(&queue, &config);
        if (!promises.error) {
                promises.instead = queue->instead;
                if (!queue->instead)
                        promises.traits = queue->traits;
                ops->destroy(queue);
        }
        free((void *)config.guards);
        return promises;
}

struct promises promises_of(const struct queue_ops *ops)
{
        unsigned values[QUEUE_KEYS_MAX];
        promises_defaults(ops, values);
        return create(ops, values, KNOWN_BACKLOG);
}

/* The variants: each condition alone, then each two of different keys that do more together. */

struct condition {
        char text[CONDITION_BYTES];
        unsigned samples[SAMPLES_MAX], count;
        int traits; /* alone, or REFUSED */
};

struct conditions {
        struct condition at[CONDITIONS_MAX];
        unsigned count;
};

static int traits_at(const struct queue_ops *ops, const unsigned *values, size_t backlog)
{
        struct promises promises = create(ops, values, backlog);
        return promises.error ? REFUSED : (int)promises.traits;
}

static void print_word(FILE *out, unsigned *words, const char *word)
{
        fprintf(out, "%s%s", (*words)++ ? ", " : "", word);
}

/* Where it differs from base. */
static void print_traits(FILE *out, unsigned now, unsigned base)
{
        static const struct {
                unsigned trait;
                const char *with, *without;
        } others[] = {
                {QUEUE_BOUNDED, "bounded", "not bounded"},
                {QUEUE_SEES_EDGE, "sees the edge", "edge not seen"},
                {QUEUE_MAY_STALL, "may stall", "no stall"},
                {QUEUE_SPINS, "spins", "no spinning"},
                {QUEUE_ALLOCATES, "allocates", "allocates nothing"},
        };
        const char *order = promises_order(now), *progress = promises_progress(now);
        unsigned words = 0;
        if (order != promises_order(base))
                print_word(out, &words, !strcmp(order, "none") ? "no order" : order);
        if (progress != promises_progress(base))
                print_word(out, &words, progress);
        for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
                if ((now ^ base) & others[i].trait)
                        print_word(out, &words,
                                now & others[i].trait ? others[i].with : others[i].without);
}

static void print_variant(
        FILE *out, const char *first, const char *second, int traits, unsigned base)
{
        if (traits == (int)base)
                return;
        fprintf(out, "%s%s%s%s: ", ftell(out) ? "; " : "", first, second ? " and " : "",
                second ? second : "");
        if (traits == REFUSED)
                fputs("refused", out);
        else
                print_traits(out, (unsigned)traits, base);
}

/* One value more of the key numbered k, under its own condition. */
static void add_value(struct conditions *all, const struct queue_ops *ops, unsigned k,
        unsigned value, const char *text, size_t text_length)
{
        const struct queue_key *key = &ops->keys[k];
        if (value == key->otherwise || all->count == CONDITIONS_MAX)
                return;
        unsigned values[QUEUE_KEYS_MAX];
        promises_defaults(ops, values);
        values[k] = value;
        struct condition new = {.samples = {value}, .count = 1};
        new.traits = traits_at(ops, values, KNOWN_BACKLOG);
        if (key->choices)
                snprintf(new.text, sizeof new.text, "%s=%.*s", key->name, (int)text_length, text);
        else
                snprintf(new.text, sizeof new.text, "%s=%u", key->name, value);
        all->at[all->count++] = new;
}

/* The last two conditions, both of numbers above the default, become one if they do the same. */
static void join_above(struct conditions *all, const struct queue_key *key)
{
        if (all->count < 2)
                return;
        struct condition *one = &all->at[all->count - 2], *two = one + 1;
        if (one->samples[0] <= key->otherwise || one->traits != two->traits)
                return;
        snprintf(one->text, sizeof one->text, "%s>%u", key->name, key->otherwise);
        one->samples[one->count++] = two->samples[0];
        all->count--;
}

static void conditions_of(struct conditions *all, const struct queue_ops *ops, unsigned k)
{
        const struct queue_key *key = &ops->keys[k];
        all->count = 0;
        if (key->choices) {
                unsigned value = 0;
                for (const char *at = key->choices; *at; value++) {
                        size_t length = strcspn(at, "|");
                        add_value(all, ops, k, value, at, length);
                        at += length + (at[length] == '|');
                }
                return;
        }
        unsigned base = key->otherwise ? key->otherwise : 1;
        add_value(all, ops, k, key->min, NULL, 0);
        for (unsigned times = 2; times <= 4; times *= 2)
                if (base <= key->max / times)
                        add_value(all, ops, k, base * times, NULL, 0);
        join_above(all, key);
}

/* What both do together, if that is the same for all their values; else REFUSED. */
static int traits_together(const struct queue_ops *ops, unsigned k, const struct condition *one,
        unsigned l, const struct condition *two)
{
        unsigned values[QUEUE_KEYS_MAX];
        int traits = REFUSED;
        promises_defaults(ops, values);
        for (unsigned i = 0; i < one->count * two->count; i++) {
                values[k] = one->samples[i / two->count];
                values[l] = two->samples[i % two->count];
                int now = traits_at(ops, values, KNOWN_BACKLOG);
                if (now == REFUSED || (i && now != traits))
                        return REFUSED;
                traits = now;
        }
        return traits;
}

/* Only where that is not what the two do alone. */
static void print_together(FILE *out, const struct queue_ops *ops, unsigned base, unsigned k,
        const struct conditions *ones, unsigned l, const struct conditions *twos)
{
        for (unsigned i = 0; i < ones->count * twos->count; i++) {
                const struct condition *one = &ones->at[i / twos->count];
                const struct condition *two = &twos->at[i % twos->count];
                if (one->traits == REFUSED || two->traits == REFUSED)
                        continue;
                int traits = traits_together(ops, k, one, l, two);
                if (traits != REFUSED && traits != (one->traits & two->traits))
                        print_variant(out, one->text, two->text, traits, base);
        }
}

char *promises_variants(const struct queue_ops *ops)
{
        struct conditions all[QUEUE_KEYS_MAX];
        struct promises plain = promises_of(ops);
        char *text;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);
        if (!out)
                die("no memory");
        unsigned keys = 0, values[QUEUE_KEYS_MAX];
        for (; !plain.error && !plain.instead && ops->keys && ops->keys[keys].name; keys++) {
                conditions_of(&all[keys], ops, keys);
                for (unsigned i = 0; i < all[keys].count; i++)
                        print_variant(out, all[keys].at[i].text, NULL, all[keys].at[i].traits,
                                plain.traits);
        }
        for (unsigned k = 0; k < keys; k++)
                for (unsigned l = k + 1; l < keys; l++)
                        print_together(out, ops, plain.traits, k, &all[k], l, &all[l]);
        promises_defaults(ops, values);
        if (!plain.error && !plain.instead)
                print_variant(
                        out, "backlog unknown", NULL, traits_at(ops, values, 0), plain.traits);
        if (fclose(out))
                die("no memory");
        return text;
}
