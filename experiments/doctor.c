/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin doctor`. */
#include "commands.h"

int doctor_main(int argc, char **argv, int all_count, char **all)
{
        (void)all_count, (void)all;
        struct settings settings;
        settings_init(&settings);
        settings_parse(&settings, FOR_DOCTOR, argc, argv);
        die("not there yet");
}
