/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The bitmaps of check.h. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static size_t words(const struct check *check)
{
        return (check->per_producer + 63) / 64;
}

bool check_create(struct check *check, unsigned producers, uint64_t per_producer)
{
        *check = (struct check){.producers = producers, .per_producer = per_producer};
        check->lanes = aligned_alloc(64, producers * sizeof *check->lanes);
        if (!check->lanes)
                return false;
        memset(check->lanes, 0, producers * sizeof *check->lanes);
        for (unsigned p = 0; p < producers; p++) {
                check->lanes[p].seen = malloc(words(check) * sizeof(uint64_t));
                if (!check->lanes[p].seen) {
                        check_destroy(check);
                        return false;
                }
                memset(check->lanes[p].seen, 0, words(check) * sizeof(uint64_t));
        }
        return true;
}

void check_destroy(struct check *check)
{
        for (unsigned p = 0; check->lanes && p < check->producers; p++)
                free(check->lanes[p].seen);
        free(check->lanes);
        check->lanes = NULL;
}

uint64_t check_round_ends(struct check *check, const uint64_t *accepted)
{
        uint64_t lost = 0;
        for (unsigned p = 0; p < check->producers; p++) {
                struct check_lane *lane = &check->lanes[p];
                for (size_t w = 0; w < words(check); w++) {
                        uint64_t first = (uint64_t)w * 64, expected = 0;
                        if (accepted[p] >= first + 64)
                                expected = UINT64_MAX;
                        else if (accepted[p] > first)
                                expected = (UINT64_C(1) << (accepted[p] - first)) - 1;
                        lost += (uint64_t)__builtin_popcountll(expected & ~lane->seen[w]);
                        check->doubled += (uint64_t)__builtin_popcountll(lane->seen[w] & ~expected);
                        lane->seen[w] = 0;
                }
                lane->next = 0;
        }
        return lost;
}
