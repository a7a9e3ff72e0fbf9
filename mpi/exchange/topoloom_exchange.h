/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse dynamic exchange: every rank knows its receivers, but not its senders. Part of libtopoloom-collective:
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
 * A destination may be the rank itself, and may occur several times. Empty messages are allowed and received. sdispls
 * are in extents of sendtype, as in MPI_Alltoallv; NULL: messages are consecutive.
 *
 * Received messages are sorted by source; messages from one source are in the order in which it sent them.
 * `recvbuf` is the address of a pointer, as in MPI_Win_allocate; it returns consecutive messages, in extents
 * of recvtype. This function allocates sources, recvcounts and the buffer; topoloom_sparse_free frees them.
 *
 * Type signatures must match. A message that is not a whole number of elements of recvtype is an error, raised after
 * all messages have been received. After any other error, such as exhausted memory, all later calls of this rank on the
 * communicator fail.
 *
 * Cost, with a seconds per message and b seconds per byte: messages up to 1 KiB are combined along a virtual mesh in
 * O((a + b bytes) log P), for any number of receivers. Longer messages are announced along the mesh and sent directly.
 * For comparison, TOPOLOOM_COLLECTIVES="exchange=nbx" selects non-blocking consensus (Hoefler, Siebert, Lumsdaine,
 * PPoPP 2010, section 3) and exchange=reduction selects a reduction of counts, with O(P) memory and bytes. */
TOPOLOOM_EXCHANGE_API int topoloom_sparse_exchange(int send_count, const int destinations[],
                                                   const int sendcounts[], const void* sendbuf,
                                                   const int sdispls[], MPI_Datatype sendtype,
                                                   int* receive_count, int** sources, int** recvcounts,
                                                   void* recvbuf, MPI_Datatype recvtype, MPI_Comm comm);

/* Frees the arrays of an exchange, and sets the pointers to NULL. `recvbuf` is the address of the pointer. */
TOPOLOOM_EXCHANGE_API int topoloom_sparse_free(int** sources, int** recvcounts, void* recvbuf);

#ifdef __cplusplus
}
#endif

#endif
