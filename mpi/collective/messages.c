// SPDX-License-Identifier: BSD-3-Clause
// Messages of any length: MPI counts in int, so that a longer one gets a datatype of its own.
#include <limits.h>

#include "collective.h"
#include "messages.h"

/// Elements as one element of a type: whole parts of 2^30, and the rest.
static int type_of_many(MPI_Datatype type, MPI_Aint extent, int64_t count, MPI_Datatype* many) {
    enum { part = 1 << 30 };
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    int status = PMPI_Type_contiguous(part, type, &whole);
    if (status != MPI_SUCCESS) return status;
    const int64_t parts = count / part;
    const int lengths[2] = {(int)parts, (int)(count % part)};
    const MPI_Aint places[2] = {0, (MPI_Aint)(parts * part) * extent};
    const MPI_Datatype types[2] = {whole, type};
    status = PMPI_Type_create_struct(2, lengths, places, types, many);
    PMPI_Type_free(&whole);
    return status == MPI_SUCCESS ? PMPI_Type_commit(many) : status;
}

int post_message(const struct message* message, enum direction direction, bool persistent,
                 MPI_Request* request) {
    const struct elements* elements = message->elements;
    MPI_Datatype type = elements->type;
    int count = (int)message->count;
    const bool is_long = message->count > INT_MAX;
    int status = MPI_SUCCESS;
    if (is_long) {
        count = 1;
        status = type_of_many(elements->type, elements->extent, message->count, &type);
    }
    if (status != MPI_SUCCESS) return status;
    char* at = message->at;
    const int peer = message->peer, tag = message->tag;
    if (direction == receiving) {
        status = persistent ? PMPI_Recv_init(at, count, type, peer, tag, message->comm, request)
                            : PMPI_Irecv(at, count, type, peer, tag, message->comm, request);
    } else {
        status = persistent ? PMPI_Send_init(at, count, type, peer, tag, message->comm, request)
                            : PMPI_Isend(at, count, type, peer, tag, message->comm, request);
    }
    if (is_long) PMPI_Type_free(&type);
    return status;
}
