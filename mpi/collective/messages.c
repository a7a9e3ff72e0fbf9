// SPDX-License-Identifier: BSD-3-Clause
// MPI counts elements in int. Longer messages are sent as one element of a derived datatype.
#include "messages.h"

#include <limits.h>

/// Creates a datatype that combines `count` elements of `type`: blocks of 2^30 elements, and one block of the
/// rest.
static int create_long_type(const struct type_desc* type, int64_t count, MPI_Datatype* long_type) {
    enum { block_length = 1 << 30 };
    MPI_Datatype block = MPI_DATATYPE_NULL;
    int status = PMPI_Type_contiguous(block_length, type->type, &block);
    if (status != MPI_SUCCESS) return status;
    const int64_t blocks = count / block_length;
    const int lengths[2] = {(int)blocks, (int)(count % block_length)};
    const MPI_Aint displacements[2] = {0, (MPI_Aint)(blocks * block_length) * type->extent};
    const MPI_Datatype types[2] = {block, type->type};
    status = PMPI_Type_create_struct(2, lengths, displacements, types, long_type);
    PMPI_Type_free(&block);
    return status == MPI_SUCCESS ? PMPI_Type_commit(long_type) : status;
}

int post_message(const struct message* message, enum message_direction direction, bool persistent,
                 MPI_Request* request) {
    MPI_Datatype type = message->type->type;
    int count = (int)message->count;
    const bool is_long = message->count > INT_MAX;
    int status = MPI_SUCCESS;
    if (is_long) {
        count = 1;
        status = create_long_type(message->type, message->count, &type);
    }
    if (status != MPI_SUCCESS) return status;
    char* buffer = message->buffer;
    const int peer = message->peer, tag = message->tag;
    if (direction == receiving) {
        status = persistent ? PMPI_Recv_init(buffer, count, type, peer, tag, message->comm, request)
                            : PMPI_Irecv(buffer, count, type, peer, tag, message->comm, request);
    } else {
        status = persistent ? PMPI_Send_init(buffer, count, type, peer, tag, message->comm, request)
                            : PMPI_Isend(buffer, count, type, peer, tag, message->comm, request);
    }
    if (is_long) PMPI_Type_free(&type);
    return status;
}
