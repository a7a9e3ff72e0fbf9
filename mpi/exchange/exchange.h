// SPDX-License-Identifier: BSD-3-Clause
// Internal interfaces of the sparse exchange. Functions of type int return MPI error codes.
#ifndef TOPOLOOM_EXCHANGE_PARTS_H
#define TOPOLOOM_EXCHANGE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective.h"

// Messages are split into parts, because MPI counts bytes in an int. All parts have this size, except the last one,
// which is shorter.
enum { part_bytes = 1 << 22 };

/// A part of a message to send.
struct outgoing_part {
    int destination, bytes;
    const char* data;
};

/// A part that has been received or announced.
struct arrived_part {
    int source, bytes;
    size_t order;      // index in the order of arrival; parts from one source arrive in the order of sending
    const char* data;  // NULL: sent directly, and not received yet
    MPI_Request request;
};

struct exchange {
    MPI_Comm comm;  // the program's
    const struct comm_state* state;
    int direct_tag, bundle_tag;
    struct outgoing_part* outgoing;
    size_t outgoing_count;
    MPI_Request* sends;
    int send_count;
    int announced_above;  // bytes above which a part is sent only after all arrivals are known
    struct arrived_part* arrivals;
    size_t arrival_count, arrival_capacity;
    bool is_complete;  // all parts are sent and received, even if an error occurred
    struct memory_block* memory;
};

// ---- memory.c ----------------------------------------------------------------------------------------------------
/// Allocates memory that is freed at the end of the exchange. Returns NULL if memory is exhausted.
void* allocate_exchange_memory(struct exchange* exchange, size_t bytes);
void free_exchange_memory(struct exchange* exchange);

// ---- outgoing.c --------------------------------------------------------------------------------------------------
/// Send arguments of topoloom_sparse_exchange().
struct send_arguments {
    int count;
    const int *destinations, *counts, *displs;
    const void* buffer;
    MPI_Datatype type;
};
/// Splits the messages into parts.
int list_outgoing_parts(struct exchange* exchange, const struct send_arguments* send_arguments);
/// Sends the parts longer than `longer_than` bytes, except to this rank. Synchronous sends complete when the part has
/// been received.
int start_sends(struct exchange* exchange, int longer_than, bool synchronous);

// ---- incoming.c --------------------------------------------------------------------------------------------------
/// Appends an arrival. Returns NULL if memory is exhausted.
struct arrived_part* add_arrival(struct exchange* exchange, int source, int bytes, const char* data);
/// Adds the parts that this rank sends to itself.
int add_own_parts(struct exchange* exchange);
/// Posts the receive for a probed part.
int receive_probed_part(struct exchange* exchange, const MPI_Status* status);

// ---- wait.c ------------------------------------------------------------------------------------------------------
/// Waits for all requests. Meanwhile advances other active calls of the process, because other ranks may wait for them
/// before they enter this exchange.
int wait_for_all_requests(const struct exchange* exchange, int count, MPI_Request* requests);
int wait_for_request(const struct exchange* exchange, MPI_Request* request);

// ---- mesh.c, nbx.c, reduction.c: algorithms that find all arrivals ---------------------------------------------------
int exchange_by_mesh(struct exchange* exchange);
int exchange_by_nbx(struct exchange* exchange);
int exchange_by_reduction(struct exchange* exchange);

// ---- deliver.c ---------------------------------------------------------------------------------------------------
/// Received messages. `sources` points to the block that contains all arrays.
struct delivery {
    int count;
    int *sources, *counts;
    char* buffer;
};
/// Receives all parts and sorts them. On failure, `reason` may contain an explanation.
int deliver_messages(struct exchange* exchange, const struct type_desc* elements, struct delivery* delivery,
                     char* reason, size_t reason_size);

#endif
