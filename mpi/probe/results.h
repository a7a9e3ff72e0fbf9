// SPDX-License-Identifier: BSD-3-Clause
// Stores results on each rank until they are gathered. Rank 0 writes them to a file.
#ifndef TOPOLOOM_PROBE_RESULTS_H
#define TOPOLOOM_PROBE_RESULTS_H

#include "sampling.h"

/// One exchange and its number of samples. `bytes` is the message size.
struct exchange_record {
    int order, first, second, bytes, count;
};

struct results {
    struct exchange_record* records;  // owned
    int count, capacity;
    struct samples samples;  // samples of all records, in the order of records
};

/// Begins a record for the results that follow.
void begin_record(struct results* results, struct exchange_record record);
/// Returns the number of samples of the last record.
int count_last_samples(const struct results* results);
void add_result(struct results* results, double seconds);

/// Appends a block with the results of all ranks to the file, and clears the results. A block begins with
/// three int64: the numbers of commands executed so far, of records, and of samples. Then follow the records
/// of five int32 each, and the samples as doubles. Without `measured`, which must be equal on all ranks, the
/// block is empty. Collective.
void write_results(struct results* results, int commands, int measured, const char* file);
void free_results(struct results* results);

#endif
