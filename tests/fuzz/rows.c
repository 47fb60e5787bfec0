/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a samples.csv: a sentence that names the file and a line, or rows that are printed
 * and read back as the same ones.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../experiments/rows.h"

static void must(int holds)
{
        if (!holds)
                abort();
}

static char *print(const struct rows *rows, size_t *bytes)
{
        char *text = NULL;
        FILE *file = open_memstream(&text, bytes);
        must(file != NULL && row_print_header(file));
        for (unsigned i = 0; i < rows->count; i++)
                must(row_print(file, &rows->rows[i]));
        fclose(file);
        return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        char why[512] = "";
        struct rows rows, again;
        if (!rows_parse(&rows, "FILE", (const char *)data, bytes, why, sizeof why)) {
                must(!strncmp(why, "FILE line ", 10) || strstr(why, "no memory"));
                must(rows.rows == NULL && !strpbrk(why, "\n\033"));
                return 0;
        }
        must(rows.count > 0);
        size_t printed_bytes, again_bytes;
        char *printed = print(&rows, &printed_bytes);
        /* What was read as a row is one. Its digits are rounded, so the rate may miss by a hair. */
        if (rows_parse(&again, "FILE", printed, printed_bytes, why, sizeof why)) {
                char *twice = print(&again, &again_bytes);
                must(printed_bytes == again_bytes && !memcmp(printed, twice, printed_bytes));
                free(twice);
                rows_free(&again);
        } else {
                must(strstr(why, "column submit_per_s") != NULL);
        }
        free(printed);
        rows_free(&rows);
        return 0;
}
