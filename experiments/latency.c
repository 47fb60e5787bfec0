/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin latency`. */
#include "commands.h"

int latency_main(int argc, char **argv, int all_count, char **all)
{
        (void)all_count, (void)all;
        struct settings settings;
        settings_init(&settings);
        settings_parse(&settings, FOR_LATENCY, argc, argv);
        die("not there yet");
}

int latency_sample_command(int argc, char **argv, int all_count, char **all)
{
        return latency_main(argc, argv, all_count, all);
}
