// SPDX-License-Identifier: BSD-3-Clause
// Internal interfaces of the sparse exchange. Functions that return int return MPI error codes.
#ifndef TOPOLOOM_EXCHANGE_PARTS_H
#define TOPOLOOM_EXCHANGE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective.h"

// A message is split into parts, as MPI counts bytes by an int: all but the last have this many bytes, the last one fewer.
enum { part_bytes = 1 << 22 };

/// A part to send.
struct outgoing {
    int destination, bytes;
    const char* data;
};

/// A part received, or announced.
struct arrival {
    int source, bytes;
    size_t order;      // of detection; parts of one source are in the order in which they were sent
    const char* data;  // NULL: sent directly, and not received yet
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
    int announced_above;  // longer parts are sent after all arrivals are known
    struct arrival* arrivals;
    size_t arrival_count, arrival_room;
    bool is_over;  // everything is sent and received, even with an error
    struct memory* memory;
};

// ---- memory.c ----------------------------------------------------------------------------------------------------
/// Allocates memory for the duration of the exchange. NULL: not enough memory.
void* exchange_alloc(struct exchange* exchange, size_t bytes);
void exchange_free_all(struct exchange* exchange);

// ---- outgoing.c --------------------------------------------------------------------------------------------------
/// The send arguments of the call.
struct given {
    int count;
    const int *destinations, *counts, *displs;
    const void* buffer;
    MPI_Datatype type;
};
/// Splits messages into parts.
int list_outgoing(struct exchange* exchange, const struct given* given);
/// Starts sending the parts for other ranks that are longer than this. Synchronous sends complete when they are received.
int start_sends(struct exchange* exchange, int longer_than, bool synchronous);

// ---- incoming.c --------------------------------------------------------------------------------------------------
/// Appends an arrival. NULL: not enough memory.
struct arrival* add_arrival(struct exchange* exchange, int source, int bytes, const char* data);
/// Adds the parts that this rank sends to itself.
int add_own_parts(struct exchange* exchange);
/// Starts receiving the part that a probe has found.
int receive_probed(struct exchange* exchange, const MPI_Status* status);

// ---- wait.c ------------------------------------------------------------------------------------------------------
/// Waits for all requests. Meanwhile it advances other active calls of the process, which ranks may wait for before they enter
/// this exchange.
int wait_all(const struct exchange* exchange, int count, MPI_Request* requests);
int wait_one(const struct exchange* exchange, MPI_Request* request);

// ---- mesh.c, nbx.c, reduction.c: algorithms that find all arrivals ---------------------------------------------------
int exchange_by_mesh(struct exchange* exchange);
int exchange_by_nbx(struct exchange* exchange);
int exchange_by_reduction(struct exchange* exchange);

// ---- deliver.c ---------------------------------------------------------------------------------------------------
/// The received messages. `sources` is the start of the one block that holds everything.
struct delivery {
    int count;
    int *sources, *counts;
    char* buffer;
};
/// Waits for all parts and sorts them. On failure, `why` may explain the error.
int deliver(struct exchange* exchange, const struct type_desc* elements, struct delivery* delivery, char* why,
            size_t why_size);

#endif
