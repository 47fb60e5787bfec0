/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *file_read_whole(
        const char *path, size_t bytes_max, size_t *bytes, char *why, size_t why_bytes)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for a writer */
        FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
        struct stat status;
        char *text = NULL;
        if (!file || fstat(fd, &status)) {
                snprintf(why, why_bytes, "%s can't be read: %s", path, strerror(errno));
        } else if (!S_ISREG(status.st_mode) || (uintmax_t)status.st_size > bytes_max) {
                snprintf(why, why_bytes, "%s can't be read: allowed: a file of at most %zu MiB",
                        path, bytes_max >> 20);
        } else if (!(text = malloc((size_t)status.st_size + 1))) {
                snprintf(why, why_bytes, "%s: no memory for it", path);
        } else {
                *bytes = fread(text, 1, (size_t)status.st_size, file);
                if (ferror(file)) {
                        snprintf(why, why_bytes, "%s can't be read: %s", path, strerror(errno));
                        free(text);
                        text = NULL;
                }
        }
        if (file)
                fclose(file);
        return text;
}
