/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Counts of times by size, to three significant decimal digits, in memory that does not grow.
 *
 * Layout: Gil Tene's HdrHistogram (github.com/HdrHistogram/HdrHistogram). Below 2,048 every value
 * has a count of its own. Above, each doubling of the value shares 1,024 counts evenly: a value's
 * first 11 bits name its count among them, the rest is dropped. So all values of a count lie within
 * 1/1,024 of the least of them, less than 1/1,000. 31 doublings reach 2^42 - 1 ns, 73 minutes.
 */
#ifndef FANIN_HISTOGRAM_H
#define FANIN_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
        HISTOGRAM_HALF = 1024, /* counts a doubling */
        HISTOGRAM_DOUBLINGS = 31,
        HISTOGRAM_COUNTS = (HISTOGRAM_DOUBLINGS + 2) * HISTOGRAM_HALF,
};
#define HISTOGRAM_MAX_NS ((UINT64_C(2) * HISTOGRAM_HALF << HISTOGRAM_DOUBLINGS) - 1)

/* Zeroed: empty. 264 KiB. */
struct histogram {
        uint64_t counts[HISTOGRAM_COUNTS];
        uint64_t count;     /* of all */
        uint64_t saturated; /* of those: above HISTOGRAM_MAX_NS, and counted as it */
        uint64_t max_ns;    /* exactly, of what was not saturated; else HISTOGRAM_MAX_NS */
};

void histogram_add(struct histogram *, uint64_t ns);

/* Adds all of other. */
void histogram_merge(struct histogram *, const struct histogram *other);

/* The greatest value that is not told apart from the one at rank ceil(share * count) in ascending
 * order, at most max_ns: never less than that one, and by at most 1/1,024 of it more. share 0 to 1.
 * NAN: empty. */
double histogram_percentile_ns(const struct histogram *, double share);

/* From the middles of the counts' ranges. NAN: empty. */
double histogram_mean_ns(const struct histogram *);
double histogram_deviation_ns(const struct histogram *);

/* The percentiles in the form of HdrHistogram's .hgrm files, in microseconds, with comment, one
 * line, as the last. False: errno says why. */
bool histogram_print_hgrm(FILE *, const struct histogram *, const char *comment);

/* A pipe: a line "name max NS SATURATED", and a line "name INDEX COUNT" for each count that is not
 * 0. histogram_receive adds what follows "name " in one. False: not such a line. */
void histogram_send(FILE *, const char *name, const struct histogram *);
bool histogram_receive(struct histogram *, const char *text);

#endif
