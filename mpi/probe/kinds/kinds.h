// SPDX-License-Identifier: BSD-3-Clause
// Exchanges between two ranks: the first measures, the second answers.
#ifndef TOPOLOOM_PROBE_KINDS_H
#define TOPOLOOM_PROBE_KINDS_H

#include <mpi.h>

/// Tags of all messages of the program.
enum tag { tag_go = 1, tag_done, tag_ready, tag_data, tag_back, tag_extra, tag_start };

struct exchange {
    int peer;
    int bytes;              // of a message
    int window;             // number of messages in a row, or of additional posted receives
    char *out, *in;         // `in` holds a window
    MPI_Request* requests;  // for two windows
};

/// Returns one sample in seconds; kinds.c describes what it covers.
typedef double measure_once(const struct exchange*);  // NOLINT(readability-identifier-naming): C
typedef void answer_once(const struct exchange*);     // NOLINT(readability-identifier-naming): C

struct exchange_kind {
    const char* name;
    measure_once* measure;
    answer_once* answer;
};

/// NULL = unknown name.
const struct exchange_kind* find_kind(const char* name);

/// Distance of messages of a window in `in`, in bytes.
int get_stride(int bytes);

measure_once measure_echo, measure_burst, measure_both, measure_followed, measure_posted, measure_send_cpu,
    measure_receive_cpu;
answer_once answer_echo, answer_burst, answer_both, answer_expected, answer_unexpected, answer_posted,
    answer_send_cpu, answer_receive_cpu;

#endif
