// SPDX-License-Identifier: BSD-3-Clause
// Who measures with whom: pairs in their own time, one after another, or all at once.
#ifndef TOPOLOOM_PROBE_ROUNDS_H
#define TOPOLOOM_PROBE_ROUNDS_H

#include <stddef.h>

#include "answers.h"
#include "clock.h"
#include "sampling.h"

/// What exchanges use, one after another.
struct buffers {
    void *out, *in, *requests;  // owned
    size_t out_room, in_room, requests_room;
};

struct probe {
    struct buffers buffers;
    int rank, ranks;
    struct sampling sampling;
    struct answers answers;
    struct common_clock clock;
    int *members, member_count;  // owned: of the set that this rank is in; 0 of none
    int own;                     // this rank's place in it
    int orders;                  // that were carried out
    int measured;                // whether some of them had any rank measure
};

/// Carries out an order: collective. False: there is no such order.
///
///     sampling LEAST MOST WIDTH SECONDS [EXACT]  of `struct sampling`
///     among RANK ... ; RANK ... ; ...       disjoint sets for `circle`
///     circle KIND SIZES WINDOW FIRST COUNT  rounds of each set in which every member meets another, all once in size - 1
///     pairs KIND SIZES WINDOW A-B ...       each rank in the order of its pairs
///     alone KIND SIZES WINDOW A-B ...       one after another
///     together KIND SIZES WINDOW REPEATS A-B ...  at once from a common start; each rank in one pair
///     timetable KIND SIZE WINDOW PERIOD A-B ... ; A-B ...  a round every PERIOD seconds, each rank in one pair of it
///     clocks                                compares them, for `together` and `timetable`
///     noise QUANTA                          of computing on each rank; see noise.c
int carry_out(struct probe* probe, char* line);
void free_probe(struct probe* probe);

#endif
