/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The parts that a measurement rests on: medians and their intervals, the exactly-once check, rows
 * through the pipe and into CSV, busy work.
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../experiments/check.h"
#include "../experiments/clock.h"
#include "../experiments/row.h"
#include "../experiments/statistics.h"
#include "../experiments/work.h"

static void assert_number(const char *what, double value, double expected)
{
        if (!(fabs(value - expected) < 1e-12))
                fail_msg("%s is %.17g, expected %.17g", what, value, expected);
}

/* P(at most k heads of n coins), from whole numbers: n <= 20. */
static double heads_at_most(unsigned k, unsigned n)
{
        uint64_t ways = 0, choose = 1;
        for (unsigned i = 0; i <= k; i++) {
                ways += choose;
                choose = choose * (n - i) / (i + 1);
        }
        return (double)ways / (double)(UINT64_C(1) << n);
}

static void test_median_of_each_size(void **state)
{
        (void)state;
        for (unsigned n = 1; n <= 20; n++) {
                double values[20];
                for (unsigned i = 0; i < n; i++)
                        values[i] = (i * 7 + 3) % n + 1.0; /* 1 … n, mixed, unless 7 divides n */
                for (unsigned i = 0; n % 7 == 0 && i < n; i++)
                        values[i] = n - i;
                struct median median = median_of(values, n);
                assert_int_equal(median.count, n);
                assert_number("median", median.median, (n + 1) / 2.0);
                /* Symmetric, as its coverage says, and the narrowest that covers 95 %. */
                unsigned k = (unsigned)median.lo - 1;
                assert_number("hi", median.hi, n - k);
                assert_number("coverage", median.coverage, 1 - 2 * heads_at_most(k, n));
                assert_true(median.coverage >= 0.95 || k == 0);
                if (2 * (k + 1) < n)
                        assert_true(1 - 2 * heads_at_most(k + 1, n) < 0.95);
        }
}

static void test_known_coverages(void **state)
{
        (void)state;
        double seven[] = {7, 1, 6, 2, 5, 3, 4}, five[] = {10, 50, 20, 40, 30};
        double ten[] = {1, 10, 2, 9, 3, 8, 4, 7, 5, 6}, one[] = {42}, equal[] = {3, 3, 3, 3};
        struct median median = median_of(seven, 7);
        assert_number("coverage of 7", median.coverage, 0.984375);
        assert_number("lo of 7", median.lo, 1);
        assert_number("hi of 7", median.hi, 7);
        median = median_of(five, 5);
        assert_number("coverage of 5", median.coverage, 0.9375);
        assert_number("median of 5", median.median, 30);
        median = median_of(ten, 10); /* the second and the ninth */
        assert_number("coverage of 10", median.coverage, 0.978515625);
        assert_number("lo of 10", median.lo, 2);
        assert_number("hi of 10", median.hi, 9);
        assert_number("median of 10", median.median, 5.5);
        median = median_of(one, 1);
        assert_number("coverage of 1", median.coverage, 0);
        assert_number("lo of 1", median.lo, 42);
        median = median_of(equal, 4);
        assert_number("hi of ties", median.hi, 3);
        assert_number("coverage of ties", median.coverage, 0.875);
}

static void test_no_samples(void **state)
{
        (void)state;
        double value = 2;
        struct median none = median_of(NULL, 0), one = median_of(&value, 1);
        struct median ratio = median_ratio(&one, &none), inverse = median_ratio(&none, &one);
        assert_int_equal(none.count, 0);
        assert_true(isnan(none.median) && isnan(none.lo) && isnan(none.hi) && isnan(none.coverage));
        assert_true(isnan(ratio.median) && isnan(ratio.lo) && isnan(ratio.hi));
        assert_true(isnan(inverse.median) && isnan(inverse.lo) && isnan(inverse.hi));
        assert_int_equal(ratio.count, 0);
}

enum { DRAWS = 2000 };

/* So seldom may `hits` of DRAWS miss if each hits with the probability at least. */
static void assert_covers(const char *what, unsigned hits, double coverage)
{
        double sigma = sqrt(coverage * (1 - coverage) / DRAWS);
        if (!((double)hits / DRAWS >= coverage - 3 * sigma))
                fail_msg(
                        "%s: %u of %u intervals cover, expected %.4f", what, hits, DRAWS, coverage);
}

/* Skewed: its mean is e^2 times its median, scale. */
static struct median draw(gsl_rng *random, double scale, size_t count)
{
        double values[32];
        for (size_t i = 0; i < count; i++)
                values[i] = scale * gsl_ran_lognormal(random, 0, 2);
        return median_of(values, count);
}

static void test_intervals_cover(void **state)
{
        (void)state;
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        gsl_rng_set(random, 20260625);
        for (size_t count = 2; count <= 25; count += count < 10 ? 1 : 5) {
                unsigned hits = 0, above = 0;
                double coverage = 0;
                for (unsigned i = 0; i < DRAWS; i++) {
                        struct median median = draw(random, 3, count);
                        hits += median.lo <= 3 && 3 <= median.hi;
                        above += median.lo > 3;
                        coverage = median.coverage;
                        assert_true(median.lo <= median.median && median.median <= median.hi);
                }
                assert_covers("median", hits, coverage);
                /* Exact, so not much more often either, and it misses to both sides alike. */
                assert_covers("a miss", DRAWS - hits, 1 - coverage);
                assert_covers("a miss above", above, (1 - coverage) / 2);
        }
        gsl_rng_free(random);
}

static void test_ratio_and_difference_cover(void **state)
{
        (void)state;
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        gsl_rng_set(random, 90);
        for (size_t count = 5; count <= 11; count += 2) {
                unsigned hits = 0, differences = 0;
                double coverage = 0;
                for (unsigned i = 0; i < DRAWS; i++) {
                        struct median a = draw(random, 12, count), b = draw(random, 8, count + 1);
                        struct median ratio = median_ratio(&a, &b);
                        hits += ratio.lo <= 1.5 && 1.5 <= ratio.hi;
                        coverage = ratio.coverage;
                        assert_true(ratio.lo <= ratio.median && ratio.median <= ratio.hi);
                        assert_number("coverage", coverage, a.coverage + b.coverage - 1);
                        struct median difference = median_difference(&a, &b);
                        differences += difference.lo <= 4 && 4 <= difference.hi;
                        assert_number("its coverage", difference.coverage, coverage);
                }
                assert_covers("ratio", hits, coverage);
                assert_covers("difference", differences, coverage);
        }
        struct median few = draw(random, 1, 2), ratio = median_ratio(&few, &few);
        assert_number("coverage of two intervals of half", ratio.coverage, 0);
        gsl_rng_free(random);
}

enum { PAIRS_MAX = 20 };

/* Pairs of the medians 3 and 2: noise of each, and of both alike. */
static void draw_pairs(
        gsl_rng *random, double own, double common, double *a, double *b, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                double both = exp(gsl_ran_gaussian(random, common));
                a[i] = 3 * both * exp(gsl_ran_gaussian(random, own));
                b[i] = 2 * both * exp(gsl_ran_gaussian(random, own));
        }
}

static void test_paired_ratio_is_known(void **state)
{
        (void)state;
        double a[PAIRS_MAX], b[PAIRS_MAX];
        for (unsigned i = 0; i < PAIRS_MAX; i++) {
                a[i] = 3.0 * (i * 7 % PAIRS_MAX + 1); /* 3 … 60, mixed */
                b[i] = a[i] / 2;
        }
        /* Of pairs that all have one ratio it is known, however they scatter. */
        struct median ratio = ratio_paired(a, b, PAIRS_MAX, 1);
        assert_number("ratio", ratio.median, 2);
        assert_number("lo", ratio.lo, 2);
        assert_number("hi", ratio.hi, 2);
        assert_number("coverage", ratio.coverage, 0.95);
        assert_int_equal(ratio.count, PAIRS_MAX);
        /* The ratio of the medians, not the median of the ratios; the arrays stay as they are. */
        for (unsigned i = 0; i < PAIRS_MAX; i++)
                b[i] = PAIRS_MAX - i * 7 % PAIRS_MAX;
        ratio = ratio_paired(a, b, PAIRS_MAX, 1);
        assert_number("ratio", ratio.median, 3);
        assert_true(ratio.lo < 3 && ratio.hi > 3);
        for (unsigned i = 0; i < PAIRS_MAX; i++)
                assert_true(a[i] == 3.0 * (i * 7 % PAIRS_MAX + 1));
}

static void test_paired_ratio_follows_the_seed(void **state)
{
        (void)state;
        double a[PAIRS_MAX], b[PAIRS_MAX];
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        draw_pairs(random, 0.2, 0, a, b, PAIRS_MAX);
        gsl_rng_free(random);
        struct median once = ratio_paired(a, b, PAIRS_MAX, 5),
                      again = ratio_paired(a, b, PAIRS_MAX, 5);
        struct median other = ratio_paired(a, b, PAIRS_MAX, 6);
        assert_true(once.lo == again.lo && once.hi == again.hi && once.median == again.median);
        assert_true(once.lo != other.lo || once.hi != other.hi);
        assert_true(once.median == other.median);
        assert_true(fabs(once.lo / other.lo - 1) < 0.05 && fabs(once.hi / other.hi - 1) < 0.05);
}

/* What disturbs a whole round cancels out in its pairs, and only there. */
static void test_common_disturbance_cancels(void **state)
{
        (void)state;
        double a[PAIRS_MAX], b[PAIRS_MAX], other[PAIRS_MAX];
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        draw_pairs(random, 0.02, 0.5, a, b, PAIRS_MAX);
        gsl_rng_free(random);
        for (unsigned i = 0; i < PAIRS_MAX; i++)
                other[i] = b[(i + 7) % PAIRS_MAX];
        struct median paired = ratio_paired(a, b, PAIRS_MAX, 1);
        struct median mixed = ratio_paired(a, other, PAIRS_MAX, 1);
        struct median of_a = median_of(a, PAIRS_MAX), of_b = median_of(b, PAIRS_MAX);
        struct median apart = median_ratio(&of_a, &of_b);
        double width = paired.hi - paired.lo;
        assert_true(2 * width < mixed.hi - mixed.lo);
        assert_true(2 * width < apart.hi - apart.lo);
        assert_true(paired.lo <= 1.5 && 1.5 <= paired.hi);
}

/* Nominal coverage, not exact: yet no less than 90 % here, nor an interval that says nothing. */
static void test_paired_ratio_covers(void **state)
{
        (void)state;
        enum { RUNS = 500 };
        double a[PAIRS_MAX], b[PAIRS_MAX];
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        gsl_rng_set(random, 91);
        unsigned hits = 0;
        for (unsigned i = 0; i < RUNS; i++) {
                draw_pairs(random, 0.1, i % 2 ? 0.3 : 0, a, b, BOOTSTRAP_LEAST);
                struct median ratio = ratio_paired(a, b, BOOTSTRAP_LEAST, i);
                hits += ratio.lo <= 1.5 && 1.5 <= ratio.hi;
                assert_true(ratio.lo <= ratio.median && ratio.median <= ratio.hi);
        }
        gsl_rng_free(random);
        if (hits < 9 * RUNS / 10 || hits == RUNS)
                fail_msg("%u of %d intervals cover the ratio", hits, RUNS);
}

/* Too few to draw from: conservatively from the two intervals. */
static void test_few_pairs(void **state)
{
        (void)state;
        double a[BOOTSTRAP_LEAST], b[BOOTSTRAP_LEAST];
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        draw_pairs(random, 0.1, 0.3, a, b, BOOTSTRAP_LEAST);
        gsl_rng_free(random);
        for (size_t pairs = 0; pairs < BOOTSTRAP_LEAST; pairs++) {
                double left[BOOTSTRAP_LEAST], right[BOOTSTRAP_LEAST];
                memcpy(left, a, sizeof left);
                memcpy(right, b, sizeof right);
                struct median of_a = median_of(left, pairs), of_b = median_of(right, pairs);
                struct median expected = median_ratio(&of_a, &of_b);
                struct median ratio = ratio_paired(a, b, pairs, 1);
                assert_int_equal(ratio.count, pairs);
                if (!pairs) {
                        assert_true(isnan(ratio.median) && isnan(ratio.lo) && isnan(ratio.hi));
                        continue;
                }
                assert_true(ratio.median == expected.median);
                assert_true(ratio.lo == expected.lo && ratio.hi == expected.hi);
                assert_true(ratio.coverage == expected.coverage);
        }
        assert_number("coverage of 10", ratio_paired(a, b, BOOTSTRAP_LEAST, 1).coverage, 0.95);
}

/* One round of one producer, whose requests are handed back as ids says. The number lost. */
static uint64_t check_ids(struct check *check, uint64_t accepted, const char *ids)
{
        check->doubled = check->disordered = 0;
        for (char *end; *ids; ids = end)
                check_one(check, 0, strtoul(ids, &end, 10));
        return check_round_ends(check, &accepted);
}

static void test_check(void **state)
{
        (void)state;
        struct check check;
        assert_true(check_create(&check, 1, 130));
        assert_int_equal(check_ids(&check, 4, "0 1 2 3"), 0);
        assert_true(!check.doubled && !check.disordered);
        /* A total of callbacks would say 4 of 4. */
        assert_int_equal(check_ids(&check, 4, "0 1 1 3"), 1);
        assert_int_equal(check.doubled, 1);
        assert_int_equal(check_ids(&check, 4, "0 2 1 3"), 0);
        assert_true(!check.doubled && check.disordered == 1);
        /* The round before left nothing behind. */
        assert_int_equal(check_ids(&check, 4, "0 1 2 3"), 0);
        assert_true(!check.doubled && !check.disordered);
        assert_int_equal(check_ids(&check, 4, "3 2 1 0"), 0);
        assert_int_equal(check.disordered, 3);
        assert_int_equal(check_ids(&check, 4, "0 1"), 2);
        assert_int_equal(check_ids(&check, 0, ""), 0);
        /* Never accepted: handed back once too often. */
        assert_int_equal(check_ids(&check, 4, "0 1 2 3 4"), 0);
        assert_int_equal(check.doubled, 1);
        assert_int_equal(check_ids(&check, 64, "129"), 64);
        assert_int_equal(check.doubled, 1);
        check_destroy(&check);
}

/* Every count on both sides of a bitmap's word, each request in turn missing. */
static void test_check_at_word_ends(void **state)
{
        (void)state;
        static const uint64_t volumes[] = {1, 2, 63, 64, 65, 127, 128, 129, 200};
        for (unsigned v = 0; v < sizeof volumes / sizeof volumes[0]; v++) {
                struct check check;
                uint64_t volume = volumes[v], accepted = volume;
                assert_true(check_create(&check, 1, volume));
                for (uint64_t missing = 0; missing <= volume; missing++) {
                        for (uint64_t id = 0; id < volume; id++)
                                if (id != missing)
                                        check_one(&check, 0, id);
                        assert_int_equal(check_round_ends(&check, &accepted), missing < volume);
                }
                assert_true(!check.doubled && !check.disordered);
                check_destroy(&check);
        }
}

static void test_check_by_producer(void **state)
{
        (void)state;
        struct check check;
        const uint64_t accepted[] = {2, 3, 0};
        assert_true(check_create(&check, 3, 3));
        /* Interleaved as they like, each in its own order. */
        check_one(&check, 1, 0);
        check_one(&check, 0, 0);
        check_one(&check, 1, 1);
        check_one(&check, 1, 2);
        check_one(&check, 0, 1);
        assert_int_equal(check_round_ends(&check, accepted), 0);
        assert_true(!check.doubled && !check.disordered);
        /* One's duplicate is no other's missing one. */
        check_one(&check, 0, 0);
        check_one(&check, 0, 1);
        check_one(&check, 0, 1);
        check_one(&check, 1, 0);
        check_one(&check, 1, 1);
        assert_int_equal(check_round_ends(&check, accepted), 1);
        assert_true(check.doubled == 1 && check.disordered == 1);
        check_destroy(&check);
}

/* Splits what `print` wrote into lines; the caller frees *text. */
static unsigned print_lines(bool (*print)(FILE *, const struct row *), const struct row *row,
        char **text, char *lines[128])
{
        size_t bytes;
        unsigned count = 0;
        FILE *file = open_memstream(text, &bytes);
        assert_non_null(file);
        assert_true(print(file, row));
        assert_int_equal(fclose(file), 0);
        assert_int_equal(strlen(*text), bytes);
        char *rest = *text;
        for (char *line; (line = strsep(&rest, "\n")) && rest;)
                lines[count++] = line;
        return count;
}

static bool print_header(FILE *file, const struct row *row)
{
        (void)row;
        return row_print_header(file);
}

static unsigned commas(const char *text)
{
        unsigned count = 0;
        for (; *text; text++)
                count += *text == ',';
        return count;
}

#define NOTHING_NUMBER(name)

/* What the sample measured; what its parent knows is the parent's to say. */
static void test_row_goes_through_the_pipe(void **state)
{
        (void)state;
        struct row sent = {.measured = true}, received = {.measured = false};
        uint64_t number = UINT64_MAX;
#define FILL_TEXT(name, bytes) row_set_text(sent.name, sizeof sent.name, #name " \xc3\xa4=;'`$");
#define FILL_WHOLE(name) sent.name = number--;
#define FILL_DECIMAL(name) sent.name = 1 / (double)number--;
        ROW_FIELDS(FILL_TEXT, FILL_WHOLE, FILL_TEXT, FILL_WHOLE, FILL_DECIMAL)
        row_set_text(sent.reason, sizeof sent.reason, "because");
        row_set_text(sent.note, sizeof sent.note, "beside");
        char *text, *lines[128];
        unsigned count = print_lines(row_send, &sent, &text, lines);
        assert_string_equal(count ? lines[count - 1] : "", "end");
        for (unsigned i = 0; i + 1 < count; i++)
                assert_true(row_receive(&received, lines[i]));
        free(text);
#define EMPTY_TEXT(name, bytes)                                                                    \
        assert_string_equal(received.name, "");                                                    \
        assert_false(row_receive(&received, #name "=1"));
#define EMPTY_NUMBER(name)                                                                         \
        assert_true(received.name == 0);                                                           \
        assert_false(row_receive(&received, #name "=1"));
#define SAME_TEXT(name, bytes) assert_string_equal(received.name, sent.name);
#define SAME_NUMBER(name) assert_true(received.name == sent.name);
        ROW_FIELDS(EMPTY_TEXT, EMPTY_NUMBER, SAME_TEXT, SAME_NUMBER, SAME_NUMBER)
        assert_string_equal(received.reason, "because");
        assert_string_equal(received.note, "beside");
        assert_true(received.measured);
}

/* What can't be had is said, and is no number on either side of the pipe. */
static void test_cleared_row_is_na(void **state)
{
        (void)state;
        struct row row, received = {.measured = false};
        char *text, *lines[128];
        row_clear(&row);
        row.measured = true;
        assert_int_equal(print_lines(row_print, &row, &text, lines), 1);
        for (char *rest = lines[0], *field; (field = strsep(&rest, ","));)
                assert_string_equal(field, "NA");
        free(text);
        unsigned count = print_lines(row_send, &row, &text, lines);
        for (unsigned i = 0; i + 1 < count; i++)
                assert_true(row_receive(&received, lines[i]));
        free(text);
#define NA_WHOLE(name) assert_true(received.name == ROW_NA);
#define NA_DECIMAL(name) assert_true(isnan(received.name));
#define NA_TEXT(name, bytes) assert_string_equal(received.name, "NA");
#define NOTHING_TEXT(name, bytes)
        ROW_FIELDS(NOTHING_TEXT, NOTHING_NUMBER, NA_TEXT, NA_WHOLE, NA_DECIMAL)
}

static void test_details_go_through_the_pipe(void **state)
{
        (void)state;
        struct row_producer producers[] = {{0, 2, 100, 50, 7}, {1, ROW_NA, 0, 0, ROW_NA}};
        struct row sent, received;
        char *text, *lines[128], *depths[128] = {NULL}, *each[128] = {NULL};
        row_clear(&sent);
        row_clear(&received);
        sent.producer_count = 2;
        sent.by_producer = producers;
        for (; sent.depth_count < ROW_DEPTHS; sent.depth_count++)
                sent.depths[sent.depth_count] = (struct row_depth){
                        3 * sent.depth_count, UINT64_C(1) << sent.depth_count % 63};
        unsigned count = print_lines(row_send, &sent, &text, lines);
        for (unsigned i = 0; i + 1 < count; i++)
                assert_true(row_receive(&received, lines[i]));
        free(text);
        assert_false(row_receive(&received, "depth=1 2")); /* there is no room for more */
        assert_int_equal(received.depth_count, ROW_DEPTHS);
        assert_memory_equal(received.depths, sent.depths, sizeof sent.depths);
        assert_int_equal(received.producer_count, 2);
        assert_memory_equal(received.by_producer, producers, sizeof producers);
        /* As the run directory has them. */
        row_set_text(received.config, sizeof received.config, "mutex");
        row_set_text(received.twin, sizeof received.twin, "no");
        received.producers = 2;
        received.sample = 4;
        received.depth_count = 2;
        assert_int_equal(print_lines(row_print_depths, &received, &text, depths), 2);
        assert_string_equal(depths[0], "mutex,2,4,no,0,1");
        assert_string_equal(depths[1], "mutex,2,4,no,3,2");
        free(text);
        assert_int_equal(print_lines(row_print_producers, &received, &text, each), 2);
        assert_string_equal(each[0], "mutex,2,4,no,0,2,100,50,2e+09,7");
        assert_string_equal(each[1], "mutex,2,4,no,1,NA,0,0,NA,NA");
        free(text);
        row_drop_details(&received);
        assert_true(!received.by_producer && !received.producer_count && !received.depth_count);
}

/* Whatever a sample's process says, a row is one line with the header's columns. */
static void test_hostile_text(void **state)
{
        (void)state;
        static char hostile[10000] = "=a,\"b\",\n\r\t\x7f\x01,c";
        struct row row = {.measured = true};
        char *header, *text, *lines[128], line[sizeof hostile + 64];
        memset(hostile + strlen(hostile), 'x', sizeof hostile - 1 - strlen(hostile));
#define SET_HOSTILE(name, bytes) row_set_text(row.name, sizeof row.name, hostile);
#define SEND_HOSTILE(name, bytes)                                                                  \
        snprintf(line, sizeof line, #name "=%s", hostile);                                         \
        assert_true(row_receive(&row, line));
        ROW_FIELDS(SET_HOSTILE, NOTHING_NUMBER, SEND_HOSTILE, NOTHING_NUMBER, NOTHING_NUMBER)
#define ASSERT_CLEAN(name, bytes)                                                                  \
        assert_int_equal(strlen(row.name), sizeof row.name - 1);                                   \
        for (const char *at = row.name; *at; at++)                                                 \
                assert_true(*at != ',' && *at != '"' && *at >= ' ' && *at < 0x7f);
#define ASSERT_UNTOUCHED(name) assert_true(row.name == 0);
        ROW_FIELDS(ASSERT_CLEAN, ASSERT_UNTOUCHED, ASSERT_CLEAN, ASSERT_UNTOUCHED, ASSERT_UNTOUCHED)
        assert_int_equal(print_lines(print_header, &row, &header, lines), 1);
        unsigned columns = commas(header);
        assert_int_equal(print_lines(row_print, &row, &text, lines), 1);
        assert_int_equal(commas(text), columns);
        assert_null(strpbrk(text, "\"\n\r"));
        free(text);
        /* Nor do numbers that are none. */
        row.submit_per_s = NAN;
        row.overlap = INFINITY;
        assert_int_equal(print_lines(row_print, &row, &text, lines), 1);
        assert_int_equal(commas(text), columns);
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        free(text);
        free(header);
}

static void test_rubbish_is_rejected(void **state)
{
        (void)state;
        static const char *const rubbish[] = {"", "=", "=x", "pinned", "end", "nosuch=1",
                "pinneds=x", "pinne=x", "submits", "submits=", "submits=-1", "submits=1x",
                "submits= 1", "submits=+1", "submits=0x1", "submits=1.5", "submits=1e3",
                "submits=18446744073709551616", "submits=nan", "overlap=", "overlap=x",
                "overlap=1,5", "overlap=1 2", " submits=1", "SUBMITS=1", "submits=NA ",
                "submits=NAN", "submits=na", "overlap=nan", "overlap=NA1", "overlap=inf",
                "overlap=0x1", "depth=", "depth=1", "depth=1 ", "depth=1  2", "depth=1 2 ",
                "depth=1 2 3", "depth=1 -2", "depth= 1 2", "producer=1 2 3 4",
                "producer=1 2 3 4 5 6", "producer=1 2 3 4 x", "measured=", "measured=2",
                "measured=10"};
        for (unsigned i = 0; i < sizeof rubbish / sizeof rubbish[0]; i++) {
                struct row row = {.submits = 0};
                if (row_receive(&row, rubbish[i]))
                        fail_msg("'%s' is taken for a field", rubbish[i]);
        }
        struct row row;
        assert_true(row_receive(&row, "submits=18446744073709551615"));
        assert_true(row.submits == UINT64_MAX);
        assert_true(row_receive(&row, "submits=NA"));
        assert_true(row.submits == ROW_NA);
        assert_true(row_receive(&row, "overlap=NA"));
        assert_true(isnan(row.overlap));
        assert_true(row_receive(&row, "overlap=1.5e-3"));
        assert_true(row.overlap == 1.5e-3);
        assert_true(row_receive(&row, "pinned=a=b"));
        assert_string_equal(row.pinned, "a=b");
}

static void test_status(void **state)
{
        (void)state;
        struct row row = {.submits = 7};
        char *text, *lines[128];
        for (enum row_status status = 0; status < STATUSES; status++) {
                row_set_status(&row, status);
                assert_int_equal(row_status_of(&row), status);
                assert_string_equal(row.status, row_status_names[status]);
        }
        row_set_text(row.status, sizeof row.status, "splendid");
        assert_int_equal(row_status_of(&row), STATUS_CRASH);
        /* What was not measured is NA, never 0. */
        for (int measured = 0; measured < 2; measured++) {
                row.measured = measured;
                print_lines(row_print, &row, &text, lines);
                assert_int_equal(!strstr(text, ",NA,"), measured);
                assert_int_equal(!!strstr(text, ",7,"), measured);
                free(text);
        }
}

static uint64_t least_cost_ns(unsigned ns)
{
        uint64_t least = UINT64_MAX;
        for (unsigned i = 0; i < 50; i++) {
                uint64_t start_ns = clock_thread_cpu_ns();
                work_ns(ns);
                uint64_t cost_ns = clock_thread_cpu_ns() - start_ns;
                least = cost_ns < least ? cost_ns : least;
        }
        return least;
}

/* A ratio, since only the machine knows its times. */
static void test_work_is_done(void **state)
{
        (void)state;
        work_calibrate();
        uint64_t some = least_cost_ns(50000), more = least_cost_ns(500000);
        if (more < 3 * some || more > 30 * some)
                fail_msg("work of 50 us takes %g ns, of 500 us %g ns", (double)some, (double)more);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_median_of_each_size),
                cmocka_unit_test(test_known_coverages),
                cmocka_unit_test(test_no_samples),
                cmocka_unit_test(test_intervals_cover),
                cmocka_unit_test(test_ratio_and_difference_cover),
                cmocka_unit_test(test_paired_ratio_is_known),
                cmocka_unit_test(test_paired_ratio_follows_the_seed),
                cmocka_unit_test(test_common_disturbance_cancels),
                cmocka_unit_test(test_paired_ratio_covers),
                cmocka_unit_test(test_few_pairs),
                cmocka_unit_test(test_check),
                cmocka_unit_test(test_check_at_word_ends),
                cmocka_unit_test(test_check_by_producer),
                cmocka_unit_test(test_row_goes_through_the_pipe),
                cmocka_unit_test(test_cleared_row_is_na),
                cmocka_unit_test(test_details_go_through_the_pipe),
                cmocka_unit_test(test_hostile_text),
                cmocka_unit_test(test_rubbish_is_rejected),
                cmocka_unit_test(test_status),
                cmocka_unit_test(test_work_is_done),
        };
        return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
