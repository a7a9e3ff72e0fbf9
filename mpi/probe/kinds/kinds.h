// SPDX-License-Identifier: BSD-3-Clause
// An exchange between two ranks: the first takes the time, the second answers.
#ifndef TOPOLOOM_PROBE_KINDS_H
#define TOPOLOOM_PROBE_KINDS_H

#include <mpi.h>

/// Tags of all messages of the program.
enum tag { tag_go = 1, tag_done, tag_ready, tag_data, tag_back, tag_extra, tag_start };

struct exchange {
    int peer;
    int bytes;              // of a message
    int window;             // messages one after another, or receives that are posted beside
    char *out, *in;         // `in` has room for a window
    MPI_Request* requests;  // for two windows
};

/// One sample, in seconds; what that is of, kinds.c says.
typedef double ask_once(const struct exchange*);   // NOLINT(readability-identifier-naming): C
typedef void answer_once(const struct exchange*);  // NOLINT(readability-identifier-naming): C

struct kind {
    const char* name;
    ask_once* ask;
    answer_once* answer;
};

/// By name. NULL: there is none.
const struct kind* find_kind(const char* name);

/// Bytes from one message of a window to the next in `in`.
int stride_of(int bytes);

ask_once ask_echo, ask_burst, ask_both, ask_with_note, ask_posted, ask_send_cpu, ask_receive_cpu;
answer_once answer_echo, answer_burst, answer_both, answer_expected, answer_unexpected, answer_posted,
    answer_send_cpu, answer_receive_cpu;

#endif
