// SPDX-License-Identifier: BSD-3-Clause
// Keeps results on each rank until they are gathered; rank 0 writes them to a file.
#ifndef TOPOLOOM_PROBE_RESULTS_H
#define TOPOLOOM_PROBE_RESULTS_H

#include "sampling.h"

/// One exchange and its number of samples; `bytes` of a message.
struct exchange_record {
    int order, first, second, bytes, count;
};

struct results {
    struct exchange_record* records;  // owned
    int count, capacity;
    struct samples samples;  // of all records in order
};

/// Adds a record for the results that follow.
void begin_record(struct results* results, struct exchange_record record);
/// The number of samples of the last record.
int count_last_samples(const struct results* results);
void add_result(struct results* results, double seconds);

/// Appends a block with the results of all ranks to the file and clears them. A block has three int64: the number of orders
/// executed so far, of its records and of its samples; then the records, five int32 each, and the samples as doubles.
/// Gathers nothing unless some rank `measured`. Collective.
void write_results(struct results* results, int orders, int measured, const char* file);
void free_results(struct results* results);

#endif
