// SPDX-License-Identifier: BSD-3-Clause
// One message of a program, as MPI is to move it.
#ifndef TOPOLOOM_COLLECTIVE_MESSAGES_H
#define TOPOLOOM_COLLECTIVE_MESSAGES_H

#include "collective.h"

struct message {
    const struct elements* elements;
    int64_t count;
    char* at;
    int peer, tag;
    MPI_Comm comm;
};
enum direction { sending, receiving };
/// Starts it, or makes a persistent request of it.
int post_message(const struct message* message, enum direction direction, bool persistent,
                 MPI_Request* request);

#endif
