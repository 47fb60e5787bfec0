/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin compare`. */
#include "commands.h"

int compare_main(int argc, char **argv, int all_count, char **all)
{
        (void)all_count, (void)all;
        struct settings settings;
        settings_init(&settings);
        settings_parse(&settings, FOR_COMPARE, argc, argv);
        die("not there yet");
}
