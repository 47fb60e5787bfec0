/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Looks backends up and checks their tables. */
#include "registry.h"

#include <stdio.h>
#include <string.h>

#ifdef QUEUE_STEP
/* The tests' builds: see queue_step. */
void (*queue_step_hook)(void);
#endif

const struct queue_ops *registry_at(unsigned i)
{
        for (unsigned file = 0; registry_files[file]; file++)
                for (unsigned j = 0; registry_files[file][j]; j++)
                        if (!i--)
                                return registry_files[file][j];
        return NULL;
}

const struct signal_ops *registry_signal_at(unsigned i)
{
        for (unsigned file = 0; registry_signal_files[file]; file++)
                for (unsigned j = 0; registry_signal_files[file][j]; j++)
                        if (!i--)
                                return registry_signal_files[file][j];
        return NULL;
}

const struct queue_ops *registry_find(const char *name)
{
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++)
                if (!strcmp(ops->name, name))
                        return ops;
        return NULL;
}

static bool is_word(const char *text)
{
        return text && *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* The number of words in "a|b|c". */
static unsigned count_choices(const char *choices)
{
        unsigned count = 1;
        for (; *choices; choices++)
                count += *choices == '|';
        return count;
}

static const char *key_fault(const struct queue_key *key)
{
        unsigned min = key->choices ? 0 : key->min;
        unsigned max = key->choices ? count_choices(key->choices) - 1 : key->max;
        if (!is_word(key->name))
                return "a key's name is not a word";
        if (!key->help)
                return "a key has no help";
        if (key->otherwise < min || key->otherwise > max)
                return "a key's default is out of its range";
        return NULL;
}

static const char *fault(const struct queue_ops *ops)
{
        if (!is_word(ops->name))
                return "its name is not a word of a-z, 0-9 and _";
        if (registry_find(ops->name) != ops)
                return "its name is taken";
        if (!ops->summary || !ops->source)
                return "it has no summary or no source";
        if (!ops->create || !ops->destroy || !ops->push || !ops->drain)
                return "create, destroy, push and drain are required";
        if (!ops->attach != !ops->detach && ops->detach)
                return "detach without attach";
        if (ops->traits & QUEUE_FIFO_GLOBAL && !(ops->traits & QUEUE_FIFO_PRODUCER))
                return "global FIFO includes per-producer FIFO";
        if (!ops->wait != !ops->interrupt)
                return "wait and interrupt are a pair";
        if (ops->settle && ops->flush)
                return "settle and flush exclude each other";
        if (!ops->keys)
                return NULL;
        for (unsigned i = 0; ops->keys[i].name; i++) {
                if (i == QUEUE_KEYS_MAX)
                        return "it has too many keys";
                const char *text = key_fault(&ops->keys[i]);
                if (text)
                        return text;
        }
        return NULL;
}

bool registry_check(char *why, size_t why_bytes)
{
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                const char *text = fault(ops);
                if (text) {
                        snprintf(why, why_bytes, "backend %u (%s): %s", i,
                                ops->name ? ops->name : "unnamed", text);
                        return false;
                }
        }
        return true;
}
