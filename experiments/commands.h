/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The program's commands: argv[0] is the command's name, all the program's whole line, for run
 * directories. Each returns an exit code. */
#ifndef FANIN_COMMANDS_H
#define FANIN_COMMANDS_H

#include "settings.h"

int list_main(int argc, char **argv, int all_count, char **all);
int run_main(int argc, char **argv, int all_count, char **all);
int latency_main(int argc, char **argv, int all_count, char **all);
int verdict_main(int argc, char **argv, int all_count, char **all);
int compare_main(int argc, char **argv, int all_count, char **all);
int doctor_main(int argc, char **argv, int all_count, char **all);
int gate_main(int argc, char **argv, int all_count, char **all);
int bars_main(int argc, char **argv, int all_count, char **all);

/* What run and latency execute for each sample. */
int sample_command(int argc, char **argv, int all_count, char **all);
int latency_sample_command(int argc, char **argv, int all_count, char **all);

#endif
