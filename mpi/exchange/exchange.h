// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the sparse exchange offer each other. Functions that return int return what MPI functions do.
#ifndef TOPOLOOM_EXCHANGE_PARTS_H
#define TOPOLOOM_EXCHANGE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective.h"

// A message travels in parts, so that MPI's int counts bytes: all but the last have this many, the last one fewer.
enum { part_bytes = 1 << 22 };

/// A part to be sent.
struct outgoing {
    int destination, bytes;
    const char* data;
};

/// A part that has come, or will.
struct arrival {
    int source, bytes;
    size_t order;      // in which it was found; those of one source in the order in which they were sent
    const char* data;  // NULL: sent straight, not yet asked for
    MPI_Request request;
};

struct exchange {
    MPI_Comm comm;  // the program's
    const struct comm_state* state;
    int straight_tag, bundle_tag;
    struct outgoing* outgoing;
    size_t outgoing_count;
    MPI_Request* sends;
    int send_count;
    int announced_above;  // parts longer than this are still to be sent when all arrivals are known
    struct arrival* arrivals;
    size_t arrival_count, arrival_room;
    bool is_over;  // all is sent and received, right or wrong
    struct memory* memory;
};

// ---- memory.c ----------------------------------------------------------------------------------------------------
/// Memory that lives as long as the exchange. NULL: there is none.
void* take_memory(struct exchange* exchange, size_t bytes);
void free_memory(struct exchange* exchange);

// ---- messages_out.c ----------------------------------------------------------------------------------------------
/// What the program sends, as it gave it.
struct given {
    int count;
    const int *destinations, *counts, *displs;
    const void* buffer;
    MPI_Datatype type;
};
/// Splits messages into parts.
int list_outgoing(struct exchange* exchange, const struct given* given);
/// Starts to send the parts for other ranks that are longer than this. Synchronous: complete when they are received.
int start_sends(struct exchange* exchange, int longer_than, bool synchronous);

// ---- messages_in.c -----------------------------------------------------------------------------------------------
/// A new one at the end. NULL: no memory.
struct arrival* add_arrival(struct exchange* exchange, int source, int bytes, const char* data);
/// What a rank sends to itself needs no message.
int keep_own(struct exchange* exchange);
/// Starts to receive the part that a probe has found.
int receive_probed(struct exchange* exchange, const MPI_Status* status);

// ---- waiting.c ---------------------------------------------------------------------------------------------------
/// Waits for all, and drives what else the process has started, which another rank may wait for before it comes here.
int wait_all(const struct exchange* exchange, int count, MPI_Request* requests);
int wait_one(const struct exchange* exchange, MPI_Request* request);

// ---- the algorithms: find all arrivals -----------------------------------------------------------------------------
int exchange_by_mesh(struct exchange* exchange);
int exchange_by_nbx(struct exchange* exchange);
int exchange_by_reduction(struct exchange* exchange);

// ---- deliver.c ---------------------------------------------------------------------------------------------------
/// What the program receives. `sources` begins the memory in which all of it is.
struct delivery {
    int count;
    int *sources, *counts;
    char* buffer;
};
/// Waits for everything, and sorts it. Where it fails, `why` says so if there is more to say than MPI does.
int deliver(struct exchange* exchange, const struct type_desc* elements, struct delivery* delivery, char* why,
            size_t why_size);

#endif
