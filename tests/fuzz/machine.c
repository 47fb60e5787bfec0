/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a machine.json: one sentence that names the file, or an object that is the same
 * machine as itself and can be written and read back.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../experiments/machine.h"

static void must(int holds)
{
        if (!holds)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        char why[512] = "";
        json_t *machine = machine_parse("FILE", (const char *)data, bytes, why, sizeof why);
        if (!machine) {
                must(!strncmp(why, "FILE", 4) && !strpbrk(why, "\n\033"));
                return 0;
        }
        must(machine_same(machine, machine));
        must(json_integer_value(json_object_get(machine, "cpus_effective")) > 0);
        char *text = json_dumps(machine, JSON_SORT_KEYS);
        must(text != NULL);
        json_t *again = machine_parse("FILE", text, strlen(text), why, sizeof why);
        must(again != NULL && machine_same(machine, again));
        json_decref(again);
        json_decref(machine);
        free(text);
        return 0;
}
