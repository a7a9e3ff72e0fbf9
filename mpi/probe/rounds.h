// SPDX-License-Identifier: BSD-3-Clause
// Executes commands: which pairs of ranks measure, and whether they measure one by one or simultaneously.
#ifndef TOPOLOOM_PROBE_ROUNDS_H
#define TOPOLOOM_PROBE_ROUNDS_H

#include <stddef.h>

#include "clock.h"
#include "results.h"
#include "sampling.h"

/// Buffers that all exchanges reuse.
struct exchange_buffers {
    void *out, *in, *requests;  // owned
    size_t out_size, in_size, requests_size;
};

struct probe {
    struct exchange_buffers buffers;
    int rank, ranks;
    struct sampling sampling;
    struct results results;
    struct common_clock clock;
    int *members, member_count;  // owned; the set of ranks that contains this rank; count 0 = no set
    int own_index;               // index of this rank in the set
    int commands;                // number of commands executed so far
    int measured;                // whether any of these commands took measurements
};

/// Executes a command. Returns 0 if the command is unknown. Collective.
///
///     sampling MIN MAX WIDTH SECONDS [EXACT]  sets `struct sampling`
///     among RANK ... ; RANK ... ; ...       defines disjoint sets for `circle`
///     circle KIND SIZES WINDOW FIRST COUNT  rounds of a tournament in each set; all pairs measure in size - 1 rounds
///     pairs KIND SIZES WINDOW A-B ...       all pairs; each rank in the order of its pairs
///     alone KIND SIZES WINDOW A-B ...       one pair at a time
///     together KIND SIZES WINDOW REPEATS A-B ...  all pairs simultaneously from common starts; each rank in one pair
///     timetable KIND SIZE WINDOW PERIOD A-B ... ; A-B ...  a round every PERIOD seconds; each rank in one pair per round
///     clocks                                synchronizes clocks, for `together` and `timetable`
///     noise QUANTA                          measures system noise; see noise.h
int execute_command(struct probe* probe, char* line);
void free_probe(struct probe* probe);

#endif
