/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Splits the text in place, after it has been looked through once. */
#include "csv.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum { COLUMNS_MAX = 1024 };
static const size_t bytes_max = (size_t)1 << 30;

/* For a terminal: what it would obey, and what is long, is not echoed. */
static void make_harmless(char *shown, size_t bytes, const char *text)
{
        size_t i = 0;
        for (; text[i] && i + 1 < bytes; i++)
                shown[i] = (char)(text[i] < ' ' || text[i] > '~' ? '?' : text[i]);
        shown[i] = '\0';
}

void csv_fault(const struct csv *csv, unsigned row, unsigned column, const char *wanted, char *why,
        size_t why_bytes)
{
        char shown[41];
        make_harmless(shown, sizeof shown, csv_field(csv, row, column));
        snprintf(why, why_bytes, "%s line %u, column %s: '%s' is not %s", csv->path, row + 2,
                csv->names[column], shown, wanted);
}

static bool is_name(const char *name)
{
        return name && *name >= 'a' && *name <= 'z' &&
               !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* The fields of a line, which it changes. */
static void split(char *line, char **fields)
{
        for (char *field; (field = strsep(&line, ","));)
                *fields++ = field;
}

static unsigned count_of(const char *text, char what)
{
        unsigned count = 0;
        for (; *text; text++)
                count += *text == what;
        return count;
}

/* Cuts off and ends the next line of *rest; CRLF ends one too. */
static char *next_line(char **rest)
{
        char *line = *rest, *end = strchr(line, '\n');
        *rest = end + 1;
        *end = '\0';
        if (end > line && end[-1] == '\r')
                end[-1] = '\0';
        return line;
}

static bool name_columns(struct csv *csv, char *header, char *why, size_t why_bytes)
{
        csv->columns = count_of(header, ',') + 1;
        if (csv->columns > COLUMNS_MAX)
                return snprintf(why, why_bytes, "%s line 1: it names %u columns; allowed: %d",
                               csv->path, csv->columns, (int)COLUMNS_MAX),
                       false;
        csv->names = calloc(csv->columns, sizeof *csv->names);
        if (!csv->names)
                return snprintf(why, why_bytes, "%s: no memory for it", csv->path), false;
        split(header, csv->names);
        for (unsigned i = 0; i < csv->columns; i++) {
                bool sound = is_name(csv->names[i]);
                for (unsigned j = 0; j < i && sound; j++)
                        sound = strcmp(csv->names[i], csv->names[j]) != 0;
                if (sound)
                        continue;
                snprintf(why, why_bytes,
                        "%s line 1: column %u has no name, or a name not its own; allowed: "
                        "letters a to z, digits and _",
                        csv->path, i + 1);
                return false;
        }
        return true;
}

static bool split_rows(struct csv *csv, unsigned lines, char *rest, char *why, size_t why_bytes)
{
        size_t field_count = (size_t)lines + count_of(rest, ',');
        char *header = next_line(&rest);
        if (!name_columns(csv, header, why, why_bytes))
                return false;
        csv->fields = calloc(field_count, sizeof *csv->fields);
        if (!csv->fields)
                return snprintf(why, why_bytes, "%s: no memory for it", csv->path), false;
        for (; csv->rows + 1 < lines; csv->rows++) {
                char *line = next_line(&rest);
                unsigned count = count_of(line, ',') + 1;
                if (count != csv->columns)
                        return snprintf(why, why_bytes,
                                       "%s line %u: it has %u fields, where line 1 names %u",
                                       csv->path, csv->rows + 2, count, csv->columns),
                               false;
                split(line, csv->fields + (size_t)csv->rows * csv->columns);
        }
        return true;
}

bool csv_parse(struct csv *csv, const char *path, const char *text, size_t bytes, char *why,
        size_t why_bytes)
{
        *csv = (struct csv){.path = path, .text = malloc(bytes + 1)};
        bool parsed = false;
        if (!csv->text)
                return snprintf(why, why_bytes, "%s: no memory for it", path), false;
        memcpy(csv->text, text, bytes);
        csv->text[bytes] = '\0';
        unsigned lines = count_of(csv->text, '\n');
        if (!bytes)
                snprintf(why, why_bytes, "%s line 1: the file is empty", path);
        else if (strlen(csv->text) != bytes)
                snprintf(why, why_bytes, "%s line %u: there is a NUL byte: this is no text file",
                        path, lines + 1);
        else if (text[bytes - 1] != '\n')
                snprintf(why, why_bytes, "%s line %u: the line does not end: the file is cut off",
                        path, lines + 1);
        else
                parsed = split_rows(csv, lines, csv->text, why, why_bytes);
        if (!parsed)
                csv_free(csv);
        return parsed;
}

bool csv_read(struct csv *csv, const char *path, char *why, size_t why_bytes)
{
        size_t bytes;
        char *text = file_read_whole(path, bytes_max, &bytes, why, why_bytes);
        bool read = text && csv_parse(csv, path, text, bytes, why, why_bytes);
        free(text);
        return read;
}

void csv_free(struct csv *csv)
{
        free(csv->text);
        free(csv->names);
        free(csv->fields);
        *csv = (struct csv){.path = csv->path};
}

int csv_column(const struct csv *csv, const char *name, char *why, size_t why_bytes)
{
        for (unsigned i = 0; i < csv->columns; i++)
                if (!strcmp(csv->names[i], name))
                        return (int)i;
        if (why)
                snprintf(why, why_bytes, "%s line 1: there is no column %s", csv->path, name);
        return -1;
}

const char *csv_field(const struct csv *csv, unsigned row, unsigned column)
{
        return csv->fields[(size_t)row * csv->columns + column];
}

bool csv_number(const struct csv *csv, unsigned row, unsigned column, double *number, char *why,
        size_t why_bytes)
{
        const char *text = csv_field(csv, row, column);
        char *end;
        *number = NAN;
        if (!strcmp(text, "NA"))
                return true;
        /* Not all that strtod takes: no sign, hexadecimal, infinity or blank. */
        bool sound = *text >= '0' && *text <= '9' && !text[strspn(text, "0123456789.eE+-")];
        *number = sound ? strtod(text, &end) : NAN;
        if (sound && !*end && isfinite(*number))
                return true;
        csv_fault(csv, row, column, "a number of at least 0, or NA", why, why_bytes);
        return false;
}

bool csv_count(const struct csv *csv, unsigned row, unsigned column, unsigned max, unsigned *count,
        char *why, size_t why_bytes)
{
        const char *text = csv_field(csv, row, column);
        char *end;
        unsigned long number = strtoul(text, &end, 10);
        *count = (unsigned)number;
        if (*text >= '0' && *text <= '9' && !*end && strlen(text) < 10 && number && number <= max)
                return true;
        char wanted[48];
        snprintf(wanted, sizeof wanted, "a whole number from 1 to %u", max);
        csv_fault(csv, row, column, wanted, why, why_bytes);
        return false;
}
