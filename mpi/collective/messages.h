// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point messages of any length.
#ifndef TOPOLOOM_COLLECTIVE_MESSAGES_H
#define TOPOLOOM_COLLECTIVE_MESSAGES_H

#include "collective.h"

struct message {
    const struct type_desc* type;
    int64_t count;
    char* buffer;
    int peer, tag;
    MPI_Comm comm;
};
enum message_direction { sending, receiving };
/// Starts the message, or creates a persistent request for it.
int post_message(const struct message* message, enum message_direction direction, bool persistent,
                 MPI_Request* request);

#endif
