/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* One sample: a process that measures one configuration at one producer count. */
#ifndef FANIN_SAMPLE_H
#define FANIN_SAMPLE_H

#include "settings.h"

/* `fanin sample`: measures, prints the row's key=value lines to stdout. The exit code says only
 * whether they were printed. */
int sample_main(const struct settings *);

#endif
