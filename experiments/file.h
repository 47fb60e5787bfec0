/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Reads what a user names: a file that is cut off, huge, a directory or a FIFO is a sentence. */
#ifndef FANIN_FILE_H
#define FANIN_FILE_H

#include <stddef.h>

/* The bytes of a regular file of at most bytes_max, which the caller frees; NULL: why. */
char *file_read_whole(
        const char *path, size_t bytes_max, size_t *bytes, char *why, size_t why_bytes);

#endif
