/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Prints and parses rows, all from one table of their fields. */
#include "row.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const row_status_names[STATUSES] = {"ok", "hang", "crash", "refused", "oom",
        "throttled", "skipped", "lost", "doubled", "disordered", "lost-wake"};

enum kind { TEXT, WHOLE, DECIMAL };

static const struct field {
        const char *name;
        enum kind kind;
        bool parents; /* known before the sample runs: neither sent nor received */
        size_t offset, bytes;
} fields[] = {
#define PARENTS_TEXT(name, size) {#name, TEXT, true, offsetof(struct row, name), size},
#define PARENTS_WHOLE(name) {#name, WHOLE, true, offsetof(struct row, name), 0},
#define OWN_TEXT(name, size) {#name, TEXT, false, offsetof(struct row, name), size},
#define OWN_WHOLE(name) {#name, WHOLE, false, offsetof(struct row, name), 0},
#define OWN_DECIMAL(name) {#name, DECIMAL, false, offsetof(struct row, name), 0},
        ROW_FIELDS(PARENTS_TEXT, PARENTS_WHOLE, OWN_TEXT, OWN_WHOLE, OWN_DECIMAL)};

enum { FIELDS = sizeof fields / sizeof *fields };

static char *text_of(const struct row *row, const struct field *field)
{
        return (char *)row + field->offset;
}

static uint64_t *whole_of(const struct row *row, const struct field *field)
{
        return (void *)((char *)row + field->offset);
}

static double *decimal_of(const struct row *row, const struct field *field)
{
        return (void *)((char *)row + field->offset);
}

void row_clear(struct row *row)
{
        *row = (struct row){.measured = false};
        for (const struct field *field = fields; field < fields + FIELDS; field++)
                if (field->kind == TEXT)
                        row_set_text(text_of(row, field), field->bytes, "NA");
                else if (field->kind == WHOLE)
                        *whole_of(row, field) = ROW_NA;
                else
                        *decimal_of(row, field) = NAN;
}

bool row_print_header(FILE *file)
{
        for (const struct field *field = fields; field < fields + FIELDS; field++)
                fprintf(file, "%s%s", field == fields ? "" : ",", field->name);
        return fputc('\n', file) != EOF && !fflush(file);
}

static void print_whole(FILE *file, uint64_t number)
{
        if (number == ROW_NA)
                fputs("NA", file);
        else
                fprintf(file, "%llu", (unsigned long long)number);
}

static void print_decimal(FILE *file, double number, int digits)
{
        if (isfinite(number))
                fprintf(file, "%.*g", digits, number);
        else
                fputs("NA", file);
}

bool row_print(FILE *file, const struct row *row)
{
        for (const struct field *field = fields; field < fields + FIELDS; field++) {
                bool there = row->measured || field->parents;
                if (field != fields)
                        fputc(',', file);
                if (field->kind == TEXT)
                        fputs(text_of(row, field), file);
                else if (field->kind == WHOLE)
                        print_whole(file, there ? *whole_of(row, field) : ROW_NA);
                else
                        print_decimal(file, there ? *decimal_of(row, field) : NAN, 6);
        }
        return fputc('\n', file) != EOF && !fflush(file);
}

bool row_send(FILE *file, const struct row *row)
{
        for (const struct field *field = fields; field < fields + FIELDS; field++) {
                if (field->parents)
                        continue;
                fprintf(file, "%s=", field->name);
                if (field->kind == TEXT)
                        fputs(text_of(row, field), file);
                else if (field->kind == WHOLE)
                        print_whole(file, *whole_of(row, field));
                else
                        print_decimal(file, *decimal_of(row, field), 17);
                fputc('\n', file);
        }
        for (unsigned i = 0; i < row->depth_count; i++)
                fprintf(file, "depth=%llu %llu\n", (unsigned long long)row->depths[i].ms,
                        (unsigned long long)row->depths[i].depth);
        for (unsigned i = 0; i < row->producer_count; i++) {
                const struct row_producer *one = &row->by_producer[i];
                const uint64_t numbers[] = {one->number, one->shard, one->submits, one->active_ns,
                        one->oldest_request_ns};
                for (unsigned j = 0; j < sizeof numbers / sizeof *numbers; j++) {
                        fputs(j ? " " : "producer=", file);
                        print_whole(file, numbers[j]);
                }
                fputc('\n', file);
        }
        fprintf(file, "measured=%d\n", row->measured);
        if (*row->reason)
                fprintf(file, "reason=%s\n", row->reason);
        if (*row->note)
                fprintf(file, "note=%s\n", row->note);
        return fputs("end\n", file) != EOF && !fflush(file);
}

/* One number of text up to an end character; NULL: it isn't one. Returns what follows. */
static const char *whole(const char *text, uint64_t *out)
{
        char *end;
        if (!strncmp(text, "NA", 2)) {
                *out = ROW_NA;
                return text + 2;
        }
        errno = 0;
        *out = strtoull(text, &end, 10);
        return *text >= '0' && *text <= '9' && !errno ? end : NULL;
}

/* count numbers, a blank between two, and nothing else. */
static bool wholes(const char *text, uint64_t *out, unsigned count)
{
        for (unsigned i = 0; i < count; i++) {
                text = whole(text, &out[i]);
                if (!text || *text != (i + 1 < count ? ' ' : '\0'))
                        return false;
                text++;
        }
        return true;
}

/* "1e5", not "0x10", "inf", "+1" or " 1", which strtod takes as well. */
static bool decimal(const char *text, double *out)
{
        char *end;
        *out = NAN;
        if (!strcmp(text, "NA"))
                return true;
        if (!*text || text[strspn(text, "0123456789.eE+-")] || strchr("+eE", *text))
                return false;
        *out = strtod(text, &end);
        return !*end && isfinite(*out);
}

static bool set(struct row *row, const struct field *field, const char *text)
{
        uint64_t number;
        switch (field->kind) {
        case TEXT:
                row_set_text(text_of(row, field), field->bytes, text);
                return true;
        case WHOLE:
                if (!wholes(text, &number, 1))
                        return false;
                *whole_of(row, field) = number;
                return true;
        default:
                return decimal(text, decimal_of(row, field));
        }
}

static const struct field *find(const char *name, size_t bytes)
{
        for (const struct field *field = fields; field < fields + FIELDS; field++)
                if (strlen(field->name) == bytes && !memcmp(field->name, name, bytes))
                        return field;
        return NULL;
}

bool row_set_field(struct row *row, const char *column, const char *text, const char **wanted)
{
        static const char *const kinds[] = {
                "text of a length that fits", "a whole number or NA", "a decimal number or NA"};
        const struct field *field = find(column, strlen(column));
        if (!field)
                return true;
        *wanted = kinds[field->kind];
        return (field->kind != TEXT || strlen(text) < field->bytes) && set(row, field, text);
}

static bool receive_depth(struct row *row, const char *value)
{
        uint64_t numbers[2];
        if (row->depth_count == ROW_DEPTHS || !wholes(value, numbers, 2))
                return false;
        row->depths[row->depth_count++] = (struct row_depth){numbers[0], numbers[1]};
        return true;
}

static bool receive_producer(struct row *row, const char *value)
{
        uint64_t n[5];
        if (!wholes(value, n, 5))
                return false;
        struct row_producer *longer =
                realloc(row->by_producer, (row->producer_count + 1) * sizeof *longer);
        if (!longer)
                return false;
        row->by_producer = longer;
        longer[row->producer_count++] = (struct row_producer){n[0], n[1], n[2], n[3], n[4]};
        return true;
}

bool row_receive(struct row *row, const char *line)
{
        const char *value = strchr(line, '=');
        if (!value)
                return false;
        size_t bytes = (size_t)(value++ - line);
        const struct field *field = find(line, bytes);
        if (field)
                return !field->parents && set(row, field, value);
        if (!strncmp(line, "depth=", 6))
                return receive_depth(row, value);
        if (!strncmp(line, "producer=", 9))
                return receive_producer(row, value);
        if (!strncmp(line, "reason=", 7)) /* for the log, which quotes nothing */
                return snprintf(row->reason, sizeof row->reason, "%s", value) >= 0;
        if (!strncmp(line, "note=", 5))
                return snprintf(row->note, sizeof row->note, "%s", value) >= 0;
        row->measured = *value == '1';
        return !strcmp(line, "measured=0") || !strcmp(line, "measured=1");
}

void row_drop_details(struct row *row)
{
        free(row->by_producer);
        row->by_producer = NULL;
        row->producer_count = row->depth_count = 0;
}

static void print_whose(FILE *file, const struct row *row)
{
        fprintf(file, "%s,%llu,%llu,%s", row->config, (unsigned long long)row->producers,
                (unsigned long long)row->sample, row->twin);
}

bool row_print_depths_header(FILE *file)
{
        fputs("config,producers,sample,twin,at_ms,backlog\n", file);
        return !fflush(file);
}

bool row_print_depths(FILE *file, const struct row *row)
{
        for (unsigned i = 0; i < row->depth_count; i++) {
                print_whose(file, row);
                fprintf(file, ",%llu,%llu\n", (unsigned long long)row->depths[i].ms,
                        (unsigned long long)row->depths[i].depth);
        }
        return !fflush(file) && !ferror(file);
}

bool row_print_producers_header(FILE *file)
{
        fputs("config,producers,sample,twin,producer,shard,submits,active_ns,submit_per_s,"
              "oldest_request_ns\n",
                file);
        return !fflush(file);
}

bool row_print_producers(FILE *file, const struct row *row)
{
        for (unsigned i = 0; i < row->producer_count; i++) {
                const struct row_producer *one = &row->by_producer[i];
                print_whose(file, row);
                fprintf(file, ",%llu,", (unsigned long long)one->number);
                print_whole(file, one->shard);
                fprintf(file, ",%llu,%llu,", (unsigned long long)one->submits,
                        (unsigned long long)one->active_ns);
                print_decimal(file,
                        one->active_ns ? (double)one->submits * 1e9 / (double)one->active_ns : NAN,
                        6);
                fputc(',', file);
                print_whole(file, one->oldest_request_ns);
                fputc('\n', file);
        }
        return !fflush(file) && !ferror(file);
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
