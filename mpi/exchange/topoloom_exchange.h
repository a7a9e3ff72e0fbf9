/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse dynamic exchange: every rank knows its receivers, and learns who has sent to it. Part of libtopoloom-collective:
 * settings, the private duplicate and errors are as in topoloom_collective.h.
 */
#ifndef TOPOLOOM_EXCHANGE_H
#define TOPOLOOM_EXCHANGE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_EXCHANGE_API __attribute__((visibility("default")))

/* Sends sendcounts[i] elements to destinations[i], and receives the messages of other ranks. Collective.
 *
 * A destination may be the rank itself, and may occur several times. A message may be empty, and is received as such. sdispls
 * are in extents of sendtype, as in MPI_Alltoallv; NULL: messages are consecutive.
 *
 * Received messages are sorted by source, and those of one source in the order in which it lists them. `recvbuf` is the
 * address of a pointer, as in MPI_Win_allocate; it returns consecutive messages, in extents of recvtype. sources, recvcounts
 * and the buffer are allocated here and freed by topoloom_sparse_free.
 *
 * Type signatures must match. A message that does not end with an element of recvtype is an error, raised after all messages
 * are received. After any other error, such as too little memory, this rank fails all further calls on the communicator.
 *
 * Cost, with a seconds per message and b per byte: messages of up to 1 KiB are combined along a virtual mesh in
 * O((a + b bytes) log P), whatever the degree. Longer ones are announced there and sent directly. For comparison,
 * TOPOLOOM_COLLECTIVES="exchange=nbx" selects non-blocking consensus (Hoefler, Siebert, Lumsdaine, PPoPP 2010, section 3)
 * and exchange=reduction a reduction of counts, which takes O(P) memory and bytes. */
TOPOLOOM_EXCHANGE_API int topoloom_sparse_exchange(int send_count, const int destinations[],
                                                   const int sendcounts[], const void* sendbuf,
                                                   const int sdispls[], MPI_Datatype sendtype,
                                                   int* receive_count, int** sources, int** recvcounts,
                                                   void* recvbuf, MPI_Datatype recvtype, MPI_Comm comm);

/* Frees the arrays of an exchange and sets the pointers to NULL. `recvbuf` is the address of the pointer. */
TOPOLOOM_EXCHANGE_API int topoloom_sparse_free(int** sources, int** recvcounts, void* recvbuf);

#ifdef __cplusplus
}
#endif

#endif
