/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on the lines of a process grid: on all rows at once, on all columns, and so on. A part of
 * libtopoloom-collective: settings, requests and errors are as in topoloom_collective.h.
 *
 * Cells are named by their coordinates, the last of which is the fastest. A line along a dimension is the cells that differ
 * in that coordinate alone. There is no communicator of a line: its members are known by arithmetic, and the schedule is
 * the one that is the fastest while all lines along the dimension do the same at once, as they share the network.
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

/* The order in which every node has a compact tile of the grid: its neighbors along every dimension leave the node as
 * seldom as possible (Karlsson 2012, alg. 5.11, 5.12). Where ranks per node divide the grid into no tiles, or nodes have
 * unequal numbers, other cuts of the mapper `tile` do; where none keeps more neighbors on a node, it is row-major. */
TOPOLOOM_COLLECTIVE_API extern const int topoloom_tiled[1];

/* Collective. extents[i] >= 1 cells along dimension i, as many in all as the communicator has ranks. `order` counts on rank 0:
 * order[cell] is the rank of each cell, numbered row-major; NULL: cell i is rank i; topoloom_tiled: see there. The grid has
 * a communicator of its own, and outlives `comm`. */
TOPOLOOM_COLLECTIVE_API int topoloom_grid_create(MPI_Comm comm, int dimensions, const int extents[],
                                                 const int order[], topoloom_grid* grid);
/* Collective. */
TOPOLOOM_COLLECTIVE_API int topoloom_grid_free(topoloom_grid* grid);

/* Between ranks of the communicator and coordinates, of which there is one for each dimension. */
TOPOLOOM_COLLECTIVE_API int topoloom_grid_coords(topoloom_grid grid, int rank, int coords[]);
TOPOLOOM_COLLECTIVE_API int topoloom_grid_rank(topoloom_grid grid, const int coords[], int* rank);

/* As MPI's own on a communicator of the caller's line along `dimension`, in which its rank is its coordinate: so are roots,
 * and blocks lie in the order of coordinates. Collective on the line. */
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

/* Started; topoloom_wait and topoloom_test complete them. Those of different dimensions may overlap. */
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

/* The schedule that a call of this operation (`bcast`, ...) and size takes on lines along a dimension, as
 * topoloom_schedule_of. The text lives as long as the grid. */
TOPOLOOM_COLLECTIVE_API int topoloom_line_schedule_of(topoloom_grid grid, int dimension,
                                                      const char* operation, long long bytes,
                                                      const char** schedule);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
