/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "fact.h"

#include <stdlib.h>
#include <string.h>

#include "cgroup.h"

FILE *fact_open_in(const char *directory, const char *name)
{
        char *whole;
        if (asprintf(&whole, "%s/%s", directory, name) < 0)
                return NULL;
        FILE *file = fopen(whole, "re");
        free(whole);
        return file;
}

FILE *fact_open(const char *path)
{
        return fact_open_in(cgroup_root, path + 1);
}

bool fact_line(const char *path, char *line, size_t bytes)
{
        FILE *file = fact_open(path);
        bool read = file && fgets(line, (int)bytes, file);
        if (file)
                fclose(file);
        if (read)
                line[strcspn(line, "\n")] = '\0';
        return read;
}
