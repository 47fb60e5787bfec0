/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over files, without a fuzzer: what it once found, and where it began. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int main(int argc, char **argv)
{
        for (int i = 1; i < argc; i++) {
                FILE *file = fopen(argv[i], "re");
                if (!file || fseek(file, 0, SEEK_END)) {
                        perror(argv[i]);
                        return 1;
                }
                size_t bytes = (size_t)ftell(file);
                uint8_t *data = malloc(bytes + 1); /* exactly as long: ASan sees a read behind it */
                rewind(file);
                if (!data || fread(data, 1, bytes, file) != bytes) {
                        perror(argv[i]);
                        return 1;
                }
                fclose(file);
                uint8_t *exact = bytes ? realloc(data, bytes) : data;
                LLVMFuzzerTestOneInput(exact, bytes);
                free(exact);
        }
        printf("%d files\n", argc - 1);
        return argc < 2;
}
