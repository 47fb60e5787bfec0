/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Prints and parses rows. */
#include "row.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const row_status_names[STATUSES] = {
        "ok", "hang", "crash", "refused", "lost", "doubled", "disordered", "lost-wake"};

bool row_print_header(FILE *file)
{
        const char *comma = "";
#define PRINT_TEXT(name, bytes) fprintf(file, "%s" #name, comma), comma = ",";
#define PRINT_NUMBER(name) PRINT_TEXT(name, 0)
        ROW_FIELDS(PRINT_TEXT, PRINT_NUMBER, PRINT_TEXT, PRINT_NUMBER, PRINT_NUMBER)
#undef PRINT_TEXT
#undef PRINT_NUMBER
        return fputc('\n', file) != EOF && !fflush(file);
}

bool row_print(FILE *file, const struct row *row)
{
        const char *comma = "";
#define PRINT_TEXT(name, bytes) fprintf(file, "%s%s", comma, row->name), comma = ",";
#define PRINT_KNOWN(name) fprintf(file, "%s%llu", comma, (unsigned long long)row->name);
#define PRINT_WHOLE(name)                                                                          \
        if (row->measured)                                                                         \
                PRINT_KNOWN(name)                                                                  \
        else                                                                                       \
                fprintf(file, "%sNA", comma);
#define PRINT_DECIMAL(name)                                                                        \
        if (row->measured && isfinite(row->name))                                                  \
                fprintf(file, "%s%.6g", comma, row->name);                                         \
        else                                                                                       \
                fprintf(file, "%sNA", comma);
        ROW_FIELDS(PRINT_TEXT, PRINT_KNOWN, PRINT_TEXT, PRINT_WHOLE, PRINT_DECIMAL)
#undef PRINT_TEXT
#undef PRINT_KNOWN
#undef PRINT_WHOLE
#undef PRINT_DECIMAL
        return fputc('\n', file) != EOF && !fflush(file);
}

/* The parent's fields are neither sent nor received. */
#define SKIP_TEXT(name, bytes)
#define SKIP_WHOLE(name)

bool row_send(FILE *file, const struct row *row)
{
#define SEND_TEXT(name, bytes) fprintf(file, #name "=%s\n", row->name);
#define SEND_WHOLE(name) fprintf(file, #name "=%llu\n", (unsigned long long)row->name);
#define SEND_DECIMAL(name) fprintf(file, #name "=%.17g\n", row->name);
        ROW_FIELDS(SKIP_TEXT, SKIP_WHOLE, SEND_TEXT, SEND_WHOLE, SEND_DECIMAL)
#undef SEND_TEXT
#undef SEND_WHOLE
#undef SEND_DECIMAL
        fprintf(file, "measured=%d\n", row->measured);
        if (*row->reason)
                fprintf(file, "reason=%s\n", row->reason);
        return fputs("end\n", file) != EOF && !fflush(file);
}

static bool whole(const char *text, uint64_t *out)
{
        char *end;
        errno = 0;
        unsigned long long number = strtoull(text, &end, 10);
        *out = number;
        return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool decimal(const char *text, double *out)
{
        char *end;
        *out = strtod(text, &end);
        return *text && !*end;
}

bool row_receive(struct row *row, const char *line)
{
        const char *value = strchr(line, '=');
        if (!value)
                return false;
        size_t bytes = (size_t)(value++ - line);
#define IS(name) (bytes == strlen(name) && !memcmp(line, name, bytes))
#define RECEIVE_TEXT(name, size)                                                                   \
        if (IS(#name))                                                                             \
                return row_set_text(row->name, size, value), true;
#define RECEIVE_WHOLE(name)                                                                        \
        if (IS(#name))                                                                             \
                return whole(value, &row->name);
#define RECEIVE_DECIMAL(name)                                                                      \
        if (IS(#name))                                                                             \
                return decimal(value, &row->name);
        ROW_FIELDS(SKIP_TEXT, SKIP_WHOLE, RECEIVE_TEXT, RECEIVE_WHOLE, RECEIVE_DECIMAL)
        if (IS("reason")) /* for the log, which quotes nothing */
                return snprintf(row->reason, sizeof row->reason, "%s", value) >= 0;
        if (IS("measured")) {
                row->measured = *value == '1';
                return !strcmp(value, "0") || !strcmp(value, "1");
        }
#undef RECEIVE_TEXT
#undef RECEIVE_WHOLE
#undef RECEIVE_DECIMAL
#undef IS
        return false;
}

enum row_status row_status_of(const struct row *row)
{
        for (enum row_status status = 0; status < STATUSES; status++)
                if (!strcmp(row_status_names[status], row->status))
                        return status;
        return STATUS_CRASH;
}

void row_set_status(struct row *row, enum row_status status)
{
        row_set_text(row->status, sizeof row->status, row_status_names[status]);
}

void row_set_text(char *field, size_t bytes, const char *text)
{
        size_t i = 0;
        for (; text[i] && i + 1 < bytes; i++) {
                unsigned char c = (unsigned char)text[i];
                field[i] = c < ' ' || c == ',' || c == '"' || c == 0x7f ? ' ' : (char)c;
        }
        field[i] = '\0';
}
