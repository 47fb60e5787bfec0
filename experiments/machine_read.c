/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Reads a run's machine.json back, whatever has become of it. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "machine.h"

enum { BYTES_MAX = 1 << 20, COUNT_MAX = 8192 };

/* What is asked of every machine.json; the rest may be missing. */
static const struct {
        const char *key;
        json_type type, or_else;
        const char *wanted;
} needed[] = {
        {"commit", JSON_STRING, JSON_STRING, "text"},
        {"compiler", JSON_STRING, JSON_STRING, "text"},
        {"cpu_model", JSON_STRING, JSON_NULL, "text or null"},
        {"cpus_effective", JSON_INTEGER, JSON_INTEGER, "a count"},
        {"date_utc", JSON_STRING, JSON_NULL, "text or null"},
        {"hostname", JSON_STRING, JSON_STRING, "text"},
};

/* For a terminal: what it would obey is not echoed. */
static void make_harmless(char *text)
{
        for (; *text; text++)
                *text = (char)(*text < ' ' || *text > '~' ? '?' : *text);
}

static bool is_sound(const json_t *machine, const char *path, char *why, size_t why_bytes)
{
        if (!json_is_object(machine)) {
                snprintf(why, why_bytes, "%s line 1, column 1: it is not an object", path);
                return false;
        }
        for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
                const json_t *value = json_object_get(machine, needed[i].key);
                bool sound = value && (json_typeof(value) == needed[i].type ||
                                              json_typeof(value) == needed[i].or_else);
                if (sound && json_is_integer(value))
                        sound = json_integer_value(value) > 0 &&
                                json_integer_value(value) <= COUNT_MAX;
                if (sound)
                        continue;
                char *is = value ? json_dumps(value,
                                           JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII)
                                 : NULL;
                snprintf(why, why_bytes, "%s: key %s is not %s%s%.40s", path, needed[i].key,
                        value ? needed[i].wanted : "there", is ? ", but " : "", is ? is : "");
                free(is);
                return false;
        }
        return true;
}

/* jansson minds the locale's decimal point, but only one of a single byte. */
static json_t *load(const char *text, size_t bytes, json_error_t *error)
{
        locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        locale_t users = uselocale(c);
        json_t *value = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, error);
        uselocale(users);
        if (c)
                freelocale(c);
        return value;
}

json_t *machine_parse(const char *path, const char *text, size_t bytes, char *why, size_t why_bytes)
{
        json_error_t error;
        json_t *machine = load(text, bytes, &error);
        if (!machine) {
                make_harmless(error.text);
                snprintf(why, why_bytes, "%s line %d, column %d: %s", path, error.line,
                        error.column, error.text);
                return NULL;
        }
        if (is_sound(machine, path, why, why_bytes))
                return machine;
        json_decref(machine);
        return NULL;
}

json_t *machine_read(const char *path, char *why, size_t why_bytes)
{
        size_t bytes;
        char *text = file_read_whole(path, BYTES_MAX, &bytes, why, why_bytes);
        json_t *machine = text ? machine_parse(path, text, bytes, why, why_bytes) : NULL;
        free(text);
        return machine;
}

const char *machine_text(const json_t *machine, const char *key)
{
        const char *text = json_string_value(json_object_get(machine, key));
        return text ? text : "NA";
}

bool machine_same(const json_t *a, const json_t *b)
{
        static const char *const keys[] = {
                "hostname", "cpu_model", "architecture", "cpus_effective", "topology"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                const json_t *of_a = json_object_get(a, keys[i]),
                             *of_b = json_object_get(b, keys[i]);
                if ((of_a || of_b) && !json_equal(of_a, of_b))
                        return false;
        }
        double memory_a = json_number_value(json_object_get(a, "memory_bytes"));
        double memory_b = json_number_value(json_object_get(b, "memory_bytes"));
        return fabs(memory_a - memory_b) <= 0.01 * fmax(fabs(memory_a), fabs(memory_b));
}
