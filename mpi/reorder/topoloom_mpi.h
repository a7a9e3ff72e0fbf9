/* SPDX-License-Identifier: BSD-3-Clause */
/* libtopoloom-mpi: communicators whose ranks sit where their messages are short.
 *
 * All functions are collective over their communicator and return what MPI functions return. Where an order
 * cannot be found (no memory, an unknown host, a wrong option), rank 0 says so in one line on standard
 * error and the communicator keeps the order that it had. Errors of a communicator that the program asks for
 * are raised, as by MPI; nothing else aborts it.
 *
 * The machine is learned when a function is called: from the hosts of the processes, from the cores that
 * they are bound to, and under Slurm from SLURM_TOPOLOGY_ADDR; or it is read from the file that the option
 * machine=FILE or the environment variable TOPOLOOM_MACHINE names.
 */
#ifndef TOPOLOOM_MPI_H
#define TOPOLOOM_MPI_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_MPI_API __attribute__((visibility("default")))

/* A communicator of the same processes in a better order. Each process says what the rank that it is now
 * would send: bytes[i] (1 each if bytes is NULL) to rank peers[i]; MPI_PROC_NULL is left out. In newcomm
 * each process does the work of its new rank. `options` counts on rank 0, separated by commas; NULL takes
 * those of the environment variable TOPOLOOM_OPTIONS:
 *   mapper=auto(effort=fast)  as for `topoloom map`; chains are written with +
 *   objective=hop-bytes       or congestion, congestion-soft, time
 *   seed=1, threads=0 (0: all cores of rank 0's node), seconds=8 (0: no limit)
 *   machine=FILE              lines `machine TEXT` and `node NUMBER HOST`
 *   report=1                  rank 0 says on standard error what was gained
 */
TOPOLOOM_MPI_API int topoloom_comm_reorder(MPI_Comm comm, int count, const int peers[], const int64_t bytes[],
                                           const char* options, MPI_Comm* newcomm);

/* What MPI_Cart_create and so on do, but with reorder != 0 the ranks are really reordered: the process that
 * becomes rank i gets the neighbors, weights and coordinates of rank i, in the same order, and that is all
 * that changes. Options are those of TOPOLOOM_OPTIONS. Weights count as bytes, a neighbor without one as a
 * byte. Processes beyond the topology get MPI_COMM_NULL, and errors are raised, as by MPI. */
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

/* The same for a communicator that has a topology already: replaces it, and frees the old one, if there is
 * a better order. `info` is for the new one; MPI_COMM_NULL stays. */
TOPOLOOM_MPI_API int topoloom_topology_reorder(MPI_Comm* comm, MPI_Info info);

/* A communicator of the same processes in which rank i is the process that is ranks[i] in comm: MPI_Group_incl with a vector
 * that counts on rank 0 (Karlsson 2012, def. 1). One that is not a permutation raises MPI_ERR_RANK on all
 * of them; rank 0 says in one line what is wrong. */
TOPOLOOM_MPI_API int topoloom_comm_remap(MPI_Comm comm, const int ranks[], MPI_Comm* newcomm);

/* The same with a vector that is read or computed. `options` counts on rank 0, separated by commas; NULL takes those of the
 * environment variable TOPOLOOM_ORDER:
 *   order=NAME                or NAME|NAME|...: the one with which the operation takes the least time, by measurement
 *     standard                root, root + 1, ...
 *     fastest-edge-first, channel-aware
 *                             ranks of binomial trees by how long messages take (Karlsson 2012, ch. 4), which is measured
 *     random                  the root, then any order
 *     blocked                 node after node, whatever the launcher has done
 *     tiled(4x8)              each node has a compact tile of the grid, whose cells are numbered row-major (ch. 5)
 *     file(NAME)              of rank 0: a rank per line, as `topoloom order -o` writes it
 *   root=0                    becomes rank 0 in the first four
 *   channels=1                messages between two groups of processes that are as fast as one
 *   message=16384             bytes with which messages are measured, seed=1
 *   operation=scatter, bytes=1048576
 *                             a collective of `topoloom collective`, and its block, which root 0 has in all candidates
 *   repeats=5                 of each, in turns, from a common start; their medians count
 *   report=1                  rank 0 says on standard error what is taken
 * Errors are raised on all ranks; rank 0 says in one line what is wrong. Measuring messages takes O(ranks^2) round trips. */
TOPOLOOM_MPI_API int topoloom_comm_order(MPI_Comm comm, const char* options, MPI_Comm* newcomm);

/* For the Fortran module. */
TOPOLOOM_MPI_API int topoloom_comm_remap_f(const MPI_Fint* comm, const int ranks[], MPI_Fint* newcomm);
TOPOLOOM_MPI_API int topoloom_comm_order_f(const MPI_Fint* comm, const char* options, MPI_Fint* newcomm);
TOPOLOOM_MPI_API int topoloom_topology_reorder_f(MPI_Fint* comm, const MPI_Fint* info);
TOPOLOOM_MPI_API int topoloom_comm_reorder_f(const MPI_Fint* comm, int count, const int peers[],
                                             const int64_t bytes[], const char* options, MPI_Fint* newcomm);

#ifdef __cplusplus
}
#endif

#endif
