/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse dynamic exchange: every rank knows whom it sends what, and learns who has sent it what. A part of
 * libtopoloom-collective: settings, private duplicate and errors are as in topoloom_collective.h.
 */
#ifndef TOPOLOOM_EXCHANGE_H
#define TOPOLOOM_EXCHANGE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_EXCHANGE_API __attribute__((visibility("default")))

/* Sends sendcounts[i] elements to each of destinations[i], and receives what others send here. Collective.
 *
 * A destination may be the rank itself, and may be named several times; a message may be empty, and is received as
 * such. sdispls are in extents of sendtype, as in MPI_Alltoallv; NULL: messages lie one after another.
 *
 * Messages arrive sorted by source, those of one source in the order in which it names them, whatever the timing.
 * recvbuf is the address of a pointer, as in MPI_Win_allocate; there they lie one after another, in extents of
 * recvtype. sources, recvcounts and recvbuf are allocated here and freed by topoloom_sparse_free. The type signature
 * that is sent is the one that is received: a message that does not end with an element of recvtype is an error, which
 * is found when all is received. After any other, such as too little memory, the rank fails all calls on the communicator.
 *
 * Time, with messages that cost a and bytes that cost b: messages of up to 1 KiB travel combined through a virtual
 * mesh, O((a + b bytes) log P) whatever the degree; longer ones are announced there and go straight. Other ways to find
 * the sources are there for comparison: TOPOLOOM_COLLECTIVES="exchange=nbx" (Hoefler, Siebert, Lumsdaine, PPoPP 2010,
 * section 3) and exchange=reduction, which takes O(P) memory and bytes. */
TOPOLOOM_EXCHANGE_API int topoloom_sparse_exchange(int send_count, const int destinations[],
                                                   const int sendcounts[], const void* sendbuf,
                                                   const int sdispls[], MPI_Datatype sendtype,
                                                   int* receive_count, int** sources, int** recvcounts,
                                                   void* recvbuf, MPI_Datatype recvtype, MPI_Comm comm);

/* Frees what an exchange has allocated, and sets the pointers to NULL; recvbuf is the address of the pointer. */
TOPOLOOM_EXCHANGE_API int topoloom_sparse_free(int** sources, int** recvcounts, void* recvbuf);

#ifdef __cplusplus
}
#endif

#endif
