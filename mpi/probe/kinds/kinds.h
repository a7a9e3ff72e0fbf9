// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of messages between two ranks: the first rank measures, the second answers.
#ifndef TOPOLOOM_PROBE_KINDS_H
#define TOPOLOOM_PROBE_KINDS_H

#include <mpi.h>

/// Message tags of the program.
enum tag { tag_go = 1, tag_done, tag_ready, tag_data, tag_back, tag_extra, tag_start };

struct exchange {
    int peer;
    int bytes;              // of a message
    int window;             // number of consecutive messages, or of additional posted receives
    char *out, *in;         // `in` has space for a window of messages
    MPI_Request* requests;  // memory for the requests of two windows
};

/// Returns one sample in seconds; see kinds.c for its definition.
typedef double measure_function(const struct exchange*);  // NOLINT(readability-identifier-naming): C
typedef void answer_function(const struct exchange*);     // NOLINT(readability-identifier-naming): C

struct exchange_kind {
    const char* name;
    measure_function* measure;
    answer_function* answer;
};

/// Returns NULL if the name is unknown.
const struct exchange_kind* find_exchange_kind(const char* name);

/// Distance between consecutive messages in `in`, in bytes.
int get_stride(int bytes);

measure_function measure_echo, measure_burst, measure_bidirectional, measure_two_messages, measure_posted,
    measure_send_cpu, measure_receive_cpu;
answer_function answer_echo, answer_burst, answer_bidirectional, answer_expected, answer_unexpected,
    answer_posted, answer_send_cpu, answer_receive_cpu;

#endif
