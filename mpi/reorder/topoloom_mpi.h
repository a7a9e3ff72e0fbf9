/* SPDX-License-Identifier: BSD-3-Clause */
/* libtopoloom-mpi: communicators whose rank order keeps communicating ranks close.
 *
 * All functions are collective and return MPI error codes. If no order can be found (memory exhausted, unknown host,
 * invalid option), rank 0 prints one line on stderr, and the communicator keeps its order. Invalid arguments raise
 * errors, as in MPI; nothing else ends the program.
 *
 * At each call, the machine is inferred from the hosts of the processes, from their core bindings, and under Slurm from
 * SLURM_TOPOLOGY_ADDR. The option machine=FILE or the environment variable TOPOLOOM_MACHINE selects a machine file
 * instead.
 */
#ifndef TOPOLOOM_MPI_H
#define TOPOLOOM_MPI_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_MPI_API __attribute__((visibility("default")))

/* Creates a communicator of the same processes in a better order. Each process passes the traffic of its old
 * rank: bytes[i] bytes to rank peers[i] (1 byte each if `bytes` is NULL); MPI_PROC_NULL is ignored. In
 * newcomm, each process must do the work of its new rank. `options` is significant only at rank 0. Options
 * are separated by commas; NULL selects those in the environment variable TOPOLOOM_OPTIONS:
 *   mapper=auto(effort=fast)  as for `topoloom map`; chains are written with +
 *   objective=hop-bytes       or congestion, congestion-soft, time
 *   seed=1, threads=0 (0: all cores of rank 0's node), seconds=8 (0: no limit)
 *   machine=FILE              machine file: lines `machine TEXT` and `node NUMBER HOST`
 *   report=1                  rank 0 prints the gain on stderr
 */
TOPOLOOM_MPI_API int topoloom_comm_reorder(MPI_Comm comm, int count, const int peers[], const int64_t bytes[],
                                           const char* options, MPI_Comm* newcomm);

/* Equivalent to MPI_Cart_create etc., except that reorder != 0 reorders ranks: the process that becomes rank i gets the
 * neighbors, weights and coordinates of rank i, in the same order. Options are read from TOPOLOOM_OPTIONS. Weights
 * count as bytes; without weights, each neighbor counts as one byte. As in MPI, processes outside the topology get
 * MPI_COMM_NULL, and errors are raised. */
TOPOLOOM_MPI_API int topoloom_cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[],
                                          int reorder, MPI_Comm* comm_cart);
TOPOLOOM_MPI_API int topoloom_graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[],
                                           int reorder, MPI_Comm* comm_graph);
TOPOLOOM_MPI_API int topoloom_dist_graph_create(MPI_Comm comm, int n, const int sources[],
                                                const int degrees[], const int destinations[],
                                                const int weights[], MPI_Info info, int reorder,
                                                MPI_Comm* comm_dist_graph);
TOPOLOOM_MPI_API int topoloom_dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                                         const int sourceweights[], int outdegree,
                                                         const int destinations[], const int destweights[],
                                                         MPI_Info info, int reorder,
                                                         MPI_Comm* comm_dist_graph);

/* Reorders a communicator that already has a topology: if a better order is found, replaces the communicator and frees
 * the old one. `info` applies to the new communicator. MPI_COMM_NULL is not changed. */
TOPOLOOM_MPI_API int topoloom_topology_reorder(MPI_Comm* comm, MPI_Info info);

/* Creates a communicator of the same processes in which rank i is the process ranks[i] of comm: like MPI_Group_incl,
 * but the vector is significant only at rank 0 (Karlsson 2012, def. 1). A vector that is not a permutation raises
 * MPI_ERR_RANK on all ranks, after rank 0 has printed a message. */
TOPOLOOM_MPI_API int topoloom_comm_remap(MPI_Comm comm, const int ranks[], MPI_Comm* newcomm);

/* The same with an order that is read or computed. `options` is significant only at rank 0. Options are separated by
 * commas; NULL selects those in the environment variable TOPOLOOM_ORDER:
 *   order=NAME                or NAME|NAME|...: the order with the lowest measured time of the operation
 *     standard                root, root + 1, ...
 *     fastest-edge-first, channel-aware
 *                             by measured message times, for binomial trees (Karlsson 2012, ch. 4)
 *     random                  the root, then the others in random order
 *     blocked                 node by node, independent of the launcher's distribution
 *     tiled(4x8)              each node has a compact tile of the grid of row-major ranks (ch. 5)
 *     file(NAME)              file that rank 0 reads, written by `topoloom collective order -o`: a rank per line
 *   root=0                    process that becomes rank 0 in the first four orders
 *   channels=1                number of messages that two groups can exchange at once, each as fast as alone
 *   message=16384, seed=1     message size for the measurement, in bytes
 *   operation=scatter, bytes=1048576
 *                             collective (see `topoloom collective`) and its block size; the root is 0
 *   repeats=5                 measurements of each candidate; medians are compared
 *   report=1                  rank 0 prints the chosen order on stderr
 * Errors are raised on all ranks, after rank 0 has printed a message. Measuring messages takes O(ranks^2) round trips. */
TOPOLOOM_MPI_API int topoloom_comm_order(MPI_Comm comm, const char* options, MPI_Comm* newcomm);

/* Called by the Fortran module. */
TOPOLOOM_MPI_API int topoloom_comm_remap_f(const MPI_Fint* comm, const int ranks[], MPI_Fint* newcomm);
TOPOLOOM_MPI_API int topoloom_comm_order_f(const MPI_Fint* comm, const char* options, MPI_Fint* newcomm);
TOPOLOOM_MPI_API int topoloom_topology_reorder_f(MPI_Fint* comm, const MPI_Fint* info);
TOPOLOOM_MPI_API int topoloom_comm_reorder_f(const MPI_Fint* comm, int count, const int peers[],
                                             const int64_t bytes[], const char* options, MPI_Fint* newcomm);

#ifdef __cplusplus
}
#endif

#endif
