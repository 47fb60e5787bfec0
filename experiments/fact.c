/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "fact.h"

#include <stdlib.h>
#include <string.h>

#include "cgroup.h"

FILE *fact_open(const char *path)
{
        char *whole;
        if (asprintf(&whole, "%s%s", cgroup_root, path) < 0)
                return NULL;
        FILE *file = fopen(whole, "re");
        free(whole);
        return file;
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
