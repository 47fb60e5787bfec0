/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* A latency sample's row: its columns, the pipe that it comes through, its line in latency.csv. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "latency.h"

struct field {
        const char *name;
        size_t offset, bytes; /* bytes 0: a number */
};

#define TEXT_FIELD(name, bytes) {#name, offsetof(struct latency_row, name), bytes},
#define NUMBER_FIELD(name) {#name, offsetof(struct latency_row, name), 0},

static const struct field fields[] = {LATENCY_FIELDS(TEXT_FIELD, NUMBER_FIELD, NUMBER_FIELD)};
static const struct field *const fields_end = fields + sizeof fields / sizeof fields[0];

static char *text_of(const struct latency_row *row, const struct field *field)
{
        return (char *)row + field->offset;
}

static double *number_of(const struct latency_row *row, const struct field *field)
{
        return (double *)(void *)text_of(row, field);
}

void latency_row_clear(struct latency_row *row)
{
        *row = (struct latency_row){.reason = ""};
        for (const struct field *field = fields; field < fields_end; field++)
                if (field->bytes)
                        row_set_text(text_of(row, field), field->bytes, "NA");
                else
                        *number_of(row, field) = NAN;
}

enum row_status latency_row_status(const struct latency_row *row)
{
        for (unsigned i = 0; i < STATUSES; i++)
                if (!strcmp(row->status, row_status_names[i]))
                        return (enum row_status)i;
        return STATUS_CRASH;
}

void latency_row_fail(struct latency_row *row, enum row_status status, const char *reason)
{
        row_set_text(row->status, sizeof row->status, row_status_names[status]);
        snprintf(row->reason, sizeof row->reason, "%s", reason);
}

bool latency_row_print_header(FILE *file)
{
        for (const struct field *field = fields; field < fields_end; field++)
                fprintf(file, "%s%s", field == fields ? "" : ",", field->name);
        return fputc('\n', file) != EOF && !fflush(file);
}

static void print_field(FILE *file, const struct latency_row *row, const struct field *field)
{
        if (field->bytes)
                fputs(text_of(row, field), file);
        else if (isnan(*number_of(row, field)))
                fputs("NA", file);
        else
                fprintf(file, "%.12g", *number_of(row, field));
}

bool latency_row_print(FILE *file, const struct latency_row *row)
{
        char *line = NULL;
        size_t bytes = 0;
        FILE *memory = open_memstream(&line, &bytes);
        if (!memory)
                return false;
        for (const struct field *field = fields; field < fields_end; field++) {
                fputs(field == fields ? "" : ",", memory);
                print_field(memory, row, field);
        }
        fputc('\n', memory);
        fclose(memory);
        /* Past the stream, which is flushed: half a line would stay in it. */
        int fd = fileno(file);
        off_t start = lseek(fd, 0, SEEK_CUR);
        size_t written = 0;
        for (ssize_t some = 1; written < bytes && some > 0; written += some > 0 ? (size_t)some : 0)
                some = write(fd, line + written, bytes - written);
        if (written < bytes && ftruncate(fd, start))
                fputs("fanin: the last line of latency.csv is not whole\n", stderr);
        free(line);
        return written == bytes;
}

bool latency_send(FILE *file, const struct latency_row *row, const struct latency_times *times)
{
        for (const struct field *field = fields; field < fields_end; field++) {
                if (field->bytes ? !strcmp(text_of(row, field), "NA")
                                 : isnan(*number_of(row, field)))
                        continue; /* the receiver has it as NA, or knows it itself */
                fprintf(file, "%s=", field->name);
                print_field(file, row, field);
                fputc('\n', file);
        }
        if (*row->reason)
                fprintf(file, "reason=%s\n", row->reason);
        histogram_send(file, "late", &times->late);
        histogram_send(file, "submit", &times->submit);
        histogram_send(file, "latency", &times->latency);
        return fputs("end\n", file) != EOF && !fflush(file);
}

/* A line "name=value". */
static bool receive_field(struct latency_row *row, const char *line)
{
        const char *equals = strchr(line, '=');
        if (!equals)
                return false;
        if (!strncmp(line, "reason=", 7))
                return snprintf(row->reason, sizeof row->reason, "%s", equals + 1) >= 0;
        for (const struct field *field = fields; field < fields_end; field++) {
                if (strlen(field->name) != (size_t)(equals - line) ||
                        memcmp(field->name, line, (size_t)(equals - line)) != 0)
                        continue;
                if (field->bytes) {
                        row_set_text(text_of(row, field), field->bytes, equals + 1);
                        return true;
                }
                char *end;
                *number_of(row, field) = strtod(equals + 1, &end);
                return end != equals + 1 && !*end && isfinite(*number_of(row, field));
        }
        return false;
}

static bool receive_line(struct latency_row *row, struct latency_times *times, const char *line)
{
        if (!strncmp(line, "late ", 5))
                return histogram_receive(&times->late, line + 5);
        if (!strncmp(line, "submit ", 7))
                return histogram_receive(&times->submit, line + 7);
        if (!strncmp(line, "latency ", 8))
                return histogram_receive(&times->latency, line + 8);
        return receive_field(row, line);
}

static void fill_percentiles(struct latency_row *row, const struct latency_times *times)
{
        row->submit_p50_ns = histogram_percentile_ns(&times->submit, 0.5);
        row->submit_p99_ns = histogram_percentile_ns(&times->submit, 0.99);
        row->submit_p999_ns = histogram_percentile_ns(&times->submit, 0.999);
        row->submit_max_ns = histogram_percentile_ns(&times->submit, 1);
        row->latency_p50_ns = histogram_percentile_ns(&times->latency, 0.5);
        row->latency_p90_ns = histogram_percentile_ns(&times->latency, 0.9);
        row->latency_p99_ns = histogram_percentile_ns(&times->latency, 0.99);
        row->latency_p999_ns = histogram_percentile_ns(&times->latency, 0.999);
        row->latency_max_ns = histogram_percentile_ns(&times->latency, 1);
        row->late_p50_ns = histogram_percentile_ns(&times->late, 0.5);
        row->late_p99_ns = histogram_percentile_ns(&times->late, 0.99);
        row->late_max_ns = histogram_percentile_ns(&times->late, 1);
}

bool latency_receive(struct latency_row *row, struct latency_times *times, char *text)
{
        char *save = NULL;
        bool ended = false;
        memset(times, 0, sizeof *times);
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                ended = !strcmp(line, "end");
                if (!ended && !receive_line(row, times, line))
                        return false;
        }
        fill_percentiles(row, times);
        return ended;
}
