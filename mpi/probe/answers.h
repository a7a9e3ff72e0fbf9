// SPDX-License-Identifier: BSD-3-Clause
// What was measured: on each rank until it is gathered, then in files that rank 0 writes.
#ifndef TOPOLOOM_PROBE_ANSWERS_H
#define TOPOLOOM_PROBE_ANSWERS_H

#include "sampling.h"

/// Samples of one exchange; `bytes` are those of a message.
struct record {
    int order, first, second, bytes, count;
};

struct answers {
    struct record* records;  // owned
    int count, room;
    struct samples samples;  // of all records, one after another
};

/// For samples that follow; returns the number of the record.
void begin_record(struct answers* answers, struct record about);
/// Of the last record.
int samples_of_last(const struct answers* answers);
void keep_sample(struct answers* answers, double seconds);

/// Appends those of all ranks to the file and forgets them: collective. A block is the number of orders that were carried
/// out so far, of its records and of its samples as three int64, the records as five int32 each, the samples as doubles.
/// Where nothing was `measured` on any rank, there is nothing to gather.
void write_answers(struct answers* answers, int orders, int measured, const char* file);
void free_answers(struct answers* answers);

#endif
