/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on the lines of a process grid, such as on all rows or all columns at once. Part of
 * libtopoloom-collective: settings, requests and errors are as in topoloom_collective.h.
 *
 * Cells are identified by coordinates; the last coordinate varies fastest. A line along a dimension consists of the
 * cells that differ only in this coordinate. Lines need no communicators, because their members are computed.
 * Schedules are chosen on the assumption that all lines along a dimension call the same collective at once
 * and share the network.
 */
#ifndef TOPOLOOM_GRID_H
#define TOPOLOOM_GRID_H

#include "topoloom_collective.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C */

typedef struct topoloom_grid_state* topoloom_grid;
#define TOPOLOOM_GRID_NULL ((topoloom_grid)0)

/* Order in which every node has a compact tile of the grid, so that few neighbors are on other nodes (Karlsson 2012,
 * alg. 5.11, 5.12). If the ranks per node do not divide the grid into tiles, or nodes have unequal numbers of ranks,
 * the mapper `tile` chooses other cuts. If no cuts reduce the number of neighbors on other nodes, the order is
 * row-major. */
TOPOLOOM_COLLECTIVE_API extern const int topoloom_tiled[1];

/* Creates a grid with extents[i] >= 1 cells along dimension i; the number of cells must equal the size of comm.
 * Collective. `order` is significant only on rank 0: order[c] is the rank of cell c in row-major order; NULL (rank c);
 * or topoloom_tiled. The grid duplicates comm, which may be freed. Fails on all ranks if extents or order are invalid. */
TOPOLOOM_COLLECTIVE_API int topoloom_grid_create(MPI_Comm comm, int dimensions, const int extents[],
                                                 const int order[], topoloom_grid* grid);
/* Frees a grid and sets it to TOPOLOOM_GRID_NULL. Collective. */
TOPOLOOM_COLLECTIVE_API int topoloom_grid_free(topoloom_grid* grid);

/* Convert between ranks of the communicator and coordinates, one per dimension. */
TOPOLOOM_COLLECTIVE_API int topoloom_grid_coords(topoloom_grid grid, int rank, int coords[]);
TOPOLOOM_COLLECTIVE_API int topoloom_grid_rank(topoloom_grid grid, const int coords[], int* rank);

/* Equivalent to the MPI functions on a communicator of the caller's line along `dimension`. Ranks in this communicator
 * are coordinates: `root` is a coordinate, and blocks are in the order of coordinates. Collective on the line. */
TOPOLOOM_COLLECTIVE_API int topoloom_line_bcast(void* buffer, int count, MPI_Datatype datatype, int root,
                                                topoloom_grid grid, int dimension);
TOPOLOOM_COLLECTIVE_API int topoloom_line_reduce(const void* sendbuf, void* recvbuf, int count,
                                                 MPI_Datatype datatype, MPI_Op op, int root,
                                                 topoloom_grid grid, int dimension);
TOPOLOOM_COLLECTIVE_API int topoloom_line_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                 void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                 int root, topoloom_grid grid, int dimension);
TOPOLOOM_COLLECTIVE_API int topoloom_line_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                  void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                  int root, topoloom_grid grid, int dimension);
TOPOLOOM_COLLECTIVE_API int topoloom_line_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                    void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                    topoloom_grid grid, int dimension);
TOPOLOOM_COLLECTIVE_API int topoloom_line_allreduce(const void* sendbuf, void* recvbuf, int count,
                                                    MPI_Datatype datatype, MPI_Op op, topoloom_grid grid,
                                                    int dimension);

/* Non-blocking forms, to be completed by topoloom_wait or topoloom_test. Calls along different dimensions may overlap. */
TOPOLOOM_COLLECTIVE_API int topoloom_line_ibcast(void* buffer, int count, MPI_Datatype datatype, int root,
                                                 topoloom_grid grid, int dimension,
                                                 topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_line_ireduce(const void* sendbuf, void* recvbuf, int count,
                                                  MPI_Datatype datatype, MPI_Op op, int root,
                                                  topoloom_grid grid, int dimension,
                                                  topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_line_igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                  void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                  int root, topoloom_grid grid, int dimension,
                                                  topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_line_iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                   void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                   int root, topoloom_grid grid, int dimension,
                                                   topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_line_iallgather(const void* sendbuf, int sendcount,
                                                     MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                                     MPI_Datatype recvtype, topoloom_grid grid, int dimension,
                                                     topoloom_request* request);
TOPOLOOM_COLLECTIVE_API int topoloom_line_iallreduce(const void* sendbuf, void* recvbuf, int count,
                                                     MPI_Datatype datatype, MPI_Op op, topoloom_grid grid,
                                                     int dimension, topoloom_request* request);

/* Returns the schedule of calls on lines along a dimension with this operation (`bcast`, ...) and size; see
 * topoloom_schedule_of. The text is valid until the grid is freed. */
TOPOLOOM_COLLECTIVE_API int topoloom_line_schedule_of(topoloom_grid grid, int dimension,
                                                      const char* operation, long long bytes,
                                                      const char** schedule);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
