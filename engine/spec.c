/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Parses and prints configuration strings; says why one can't be honoured. */
#include "spec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const spec_alloc_names[SPEC_ALLOCS] = {"malloc", "slab"};

enum { DEFAULT_WAKE = WAKE_PENDING };

struct text {
        char *at;
        size_t left;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        int bytes = vsnprintf(text->at, text->left, format, arguments);
        va_end(arguments);
        size_t step = (size_t)bytes < text->left ? (size_t)bytes : text->left - !!text->left;
        text->at += step;
        text->left -= step;
}

/* The allowed names of a part, as "a, b, c". i: 0, 1, …; NULL ends. */
typedef const char *(*name_at)(unsigned i);

static const char *queue_name(unsigned i)
{
        const struct queue_ops *ops = registry_at(i);
        return ops ? ops->name : NULL;
}

static const char *wake_name(unsigned i)
{
        return i < WAKE_POLICIES ? wake_policies[i].name : NULL;
}

static const char *signal_name(unsigned i)
{
        const struct signal_ops *ops = registry_signal_at(i);
        return ops ? ops->name : NULL;
}

static const char *alloc_name(unsigned i)
{
        return i < SPEC_ALLOCS ? spec_alloc_names[i] : NULL;
}

/* The position of value among the names, or -1 with the sentence in why. */
static int choose(const char *part, const char *value, name_at names, struct text why)
{
        const char *name;
        for (unsigned i = 0; (name = names(i)); i++)
                if (!strcmp(name, value))
                        return (int)i;
        append(&why, "%s '%s' is unknown; allowed:", part, value);
        for (unsigned i = 0; (name = names(i)); i++)
                append(&why, "%s %s", i ? "," : "", name);
        return -1;
}

static bool parse_value(const struct queue_key *key, const char *value, unsigned *out)
{
        if (key->choices) {
                size_t bytes = strlen(value);
                unsigned i = 0;
                for (const char *at = key->choices; *at; i++) {
                        size_t length = strcspn(at, "|");
                        if (length == bytes && !memcmp(at, value, bytes)) {
                                *out = i;
                                return true;
                        }
                        at += length + (at[length] == '|');
                }
                return false;
        }
        char *end;
        errno = 0;
        unsigned long number = strtoul(value, &end, 10);
        if (*value < '0' || *value > '9' || *end || errno || number < key->min || number > key->max)
                return false;
        *out = (unsigned)number;
        return true;
}

/* One key=value of the queue's part. */
static bool parse_key(struct spec *spec, char *pair, bool *seen, struct text why)
{
        char *value = strchr(pair, '=');
        if (value)
                *value++ = '\0';
        for (unsigned i = 0; spec->queue->keys && spec->queue->keys[i].name; i++) {
                const struct queue_key *key = &spec->queue->keys[i];
                if (strcmp(key->name, pair) != 0)
                        continue;
                if (seen[i]) {
                        append(&why, "key '%s' of queue '%s' is given twice", pair,
                                spec->queue->name);
                        return false;
                }
                seen[i] = true;
                if (value && parse_value(key, value, &spec->values[i]))
                        return true;
                append(&why, "key '%s' of queue '%s' can't be '%s'; allowed: ", pair,
                        spec->queue->name, value ? value : "");
                if (key->choices)
                        append(&why, "%s", key->choices);
                else
                        append(&why, "%u to %u", key->min, key->max);
                return false;
        }
        append(&why, "queue '%s' has no key '%s'; allowed:", spec->queue->name, pair);
        const struct queue_key *key = spec->queue->keys;
        append(&why, "%s", key ? "" : " none");
        for (; key && key->name; key++)
                append(&why, " %s", key->name);
        return false;
}

static bool parse_queue(struct spec *spec, char *part, struct text why)
{
        char *pairs = strchr(part, ':');
        if (pairs)
                *pairs++ = '\0';
        int i = choose("queue", part, queue_name, why);
        if (i < 0)
                return false;
        spec->queue = registry_at((unsigned)i);
        for (unsigned k = 0; spec->queue->keys && spec->queue->keys[k].name; k++)
                spec->values[k] = spec->queue->keys[k].otherwise;
        bool seen[QUEUE_KEYS_MAX] = {false};
        for (char *pair; (pair = strsep(&pairs, ":"));)
                if (!parse_key(spec, pair, seen, why))
                        return false;
        return true;
}

/* NULL: a queue with these traits can serve the policy; else why it can't. */
static const char *wake_fault(const struct queue_ops *queue, unsigned traits, enum wake_policy wake)
{
        unsigned needs = wake_policies[wake].needs;
        if (needs & WAKE_NEEDS_EDGE && !(traits & QUEUE_SEES_EDGE))
                return "it needs a queue that sees the edge";
        if (needs & WAKE_NEEDS_NO_SETTLE && queue->settle)
                return "its push waits to be accepted, and would for a poll's time";
        if (needs & WAKE_NEEDS_HOOKS && !queue->wait)
                return "it needs a queue that the FFI thread can wait in";
        if (!(needs & WAKE_NEEDS_MEMBARRIER))
                return NULL;
        queue_guard_init();
        return atomic_load_explicit(&queue_guard_fenced, memory_order_relaxed)
                       ? "it needs the system call membarrier, which is refused here"
                       : NULL;
}

static void append_item(struct text *list, const char *name, bool *more)
{
        append(list, "%s%s", *more ? ", " : "", name);
        *more = true;
}

static void append_wakes(struct text *list, const struct queue_ops *queue, unsigned traits)
{
        bool more = false;
        for (unsigned i = 0; i < WAKE_POLICIES; i++)
                if (!wake_fault(queue, traits, (enum wake_policy)i))
                        append_item(list, wake_policies[i].name, &more);
}

static void append_signals_that_wake(struct text *list)
{
        const struct signal_ops *ops;
        bool more = false;
        for (unsigned i = 0; (ops = registry_signal_at(i)); i++)
                if (ops != &signal_none)
                        append_item(list, ops->name, &more);
}

static bool check_signal(const struct spec *spec, struct text why)
{
        const struct wake_policy_facts *wake = &wake_policies[spec->wake];
        bool sends = wake->needs & WAKE_NEEDS_SIGNAL;
        if (sends == (spec->signal != &signal_none))
                return true;
        if (!sends) {
                append(&why, "signal '%s' with wake '%s' would never be sent; allowed: none",
                        spec->signal->name, wake->name);
                return false;
        }
        append(&why,
                "signal 'none' wakes nobody and wake '%s' needs a wake; allowed: ", wake->name);
        append_signals_that_wake(&why);
        return false;
}

/* What can't be honoured together is refused, never run as something else. */
bool spec_check(const struct spec *spec, unsigned traits, char *why_at, size_t why_bytes)
{
        struct text why = {why_at, why_bytes};
        const char *fault = wake_fault(spec->queue, traits, spec->wake);
        if (!fault)
                return check_signal(spec, why);
        /* The queue as it is configured, if that made the difference. */
        char queue[SPEC_BYTES];
        spec_print_queue(spec, queue, sizeof queue);
        append(&why, "wake '%s' can't serve '%s': %s; allowed: ", wake_policies[spec->wake].name,
                traits == spec->queue->traits ? spec->queue->name : queue, fault);
        append_wakes(&why, spec->queue, traits);
        return false;
}

static bool parse_parts(char *parts[4], struct spec *spec, struct text why)
{
        if (!parse_queue(spec, parts[0], why))
                return false;
        int wake = parts[1] ? choose("wake", parts[1], wake_name, why) : DEFAULT_WAKE;
        if (wake < 0)
                return false;
        spec->wake = (enum wake_policy)wake;
        bool sends = wake_policies[spec->wake].needs & WAKE_NEEDS_SIGNAL;
        spec->signal = sends ? registry_signal_at(0) : &signal_none;
        if (parts[2]) {
                int signal = choose("signal", parts[2], signal_name, why);
                if (signal < 0)
                        return false;
                spec->signal = registry_signal_at((unsigned)signal);
        }
        int alloc = parts[3] ? choose("alloc", parts[3], alloc_name, why) : SPEC_MALLOC;
        if (alloc < 0)
                return false;
        spec->alloc = (enum spec_alloc)alloc;
        return spec_check(spec, spec->queue->traits, why.at, why.left);
}

bool spec_parse(const char *text, struct spec *spec, char *why_at, size_t why_bytes)
{
        struct text why = {why_at, why_bytes};
        char copy[SPEC_BYTES], *parts[4] = {NULL}, *rest = copy;
        if (strlen(text) >= sizeof copy) {
                append(&why, "the configuration is %zu characters long; allowed: %zu", strlen(text),
                        sizeof copy - 1);
                return false;
        }
        strcpy(copy, text);
        *spec = (struct spec){.queue = NULL};
        for (unsigned i = 0; i < 4 && rest; i++)
                parts[i] = strsep(&rest, "/");
        if (rest) {
                append(&why,
                        "configuration '%s' has more than four parts; allowed: "
                        "queue[:key=value…][/wake[/signal[/alloc]]]",
                        text);
                return false;
        }
        return parse_parts(parts, spec, why);
}

void spec_print_queue(const struct spec *spec, char *text_at, size_t text_bytes)
{
        struct text text = {text_at, text_bytes};
        append(&text, "%s", spec->queue->name);
        for (unsigned i = 0; spec->queue->keys && spec->queue->keys[i].name; i++) {
                const struct queue_key *key = &spec->queue->keys[i];
                append(&text, ":%s=", key->name);
                if (!key->choices) {
                        append(&text, "%u", spec->values[i]);
                        continue;
                }
                const char *choice = key->choices;
                for (unsigned skip = spec->values[i]; skip--;)
                        choice = strchr(choice, '|') + 1;
                append(&text, "%.*s", (int)strcspn(choice, "|"), choice);
        }
}

void spec_print(const struct spec *spec, char *text_at, size_t text_bytes)
{
        char queue[SPEC_BYTES];
        spec_print_queue(spec, queue, sizeof queue);
        struct text text = {text_at, text_bytes};
        append(&text, "%s/%s/%s/%s", queue, wake_policies[spec->wake].name, spec->signal->name,
                spec_alloc_names[spec->alloc]);
}

long spec_value(const struct spec *spec, const char *key)
{
        for (unsigned i = 0; spec->queue->keys && spec->queue->keys[i].name; i++)
                if (!strcmp(spec->queue->keys[i].name, key))
                        return spec->values[i];
        return -1;
}
