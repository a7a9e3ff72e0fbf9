/* SPDX-License-Identifier: BSD-3-Clause */
/* C interface of libtopoloom: assigns ranks to the processes of a running job. Does not use MPI.
 *
 * Functions that return int return 0, or 1 with a one-line message in `error` (error_size bytes; 256 are
 * enough). On failure nothing is created. No exception leaves the library. Calls on different objects may run
 * concurrently.
 */
#ifndef TOPOLOOM_H
#define TOPOLOOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_API __attribute__((visibility("default")))

/* A machine, and the location of each process of a job. */
typedef struct topoloom_process_map topoloom_process_map; /* NOLINT(readability-identifier-naming): C */

/* Derives a machine from groups of processes. groups[p * levels + l] is the group of process p at level l,
 * outermost first: switches, the node (l == node_level), then groups of cores such as package, NUMA domain,
 * cache and core. Equal numbers mean the same group only inside the same group of the previous level.
 * Switches and nodes form a tree in which each switch on a path adds a distance of 32. Two processes of a
 * node are at distance 16, halved for each further group that they share. Groups may have different sizes. */
TOPOLOOM_API int topoloom_process_map_from_groups(size_t processes, size_t levels, size_t node_level,
                                                  const int64_t* groups, topoloom_process_map** process_map,
                                                  char* error, size_t error_size);

/* Locates processes on a machine, which is given as a short text such as torus:8x8x8 or
 * tree:4:8+node:12:2,distance=1:10. The first group of a process is its node number in the machine; the other
 * groups order the processes of a node along its slots. Slots are divided if processes outnumber them. */
TOPOLOOM_API int topoloom_process_map_on_machine(const char* machine, size_t processes, size_t levels,
                                                 const int64_t* groups, topoloom_process_map** process_map,
                                                 char* error, size_t error_size);

/* The short text of the machine; lives as long as the process map. */
TOPOLOOM_API const char* topoloom_process_map_machine(const topoloom_process_map* process_map);

TOPOLOOM_API void topoloom_process_map_free(topoloom_process_map* process_map);

/* The communication graph in compressed sparse rows: rank u sends bytes[k] to peers[k] for
 * first[u] <= k < first[u + 1]. Repeated peers are summed. */
typedef struct {
    size_t ranks;
    const uint64_t* first;
    const uint32_t* peers;
    const int64_t* bytes;
} topoloom_pattern;

/* The gain of an order: the objective (for hop-bytes, the sum of bytes times distance) and the inter-node
 * bytes. `before`: with rank i on process i. `after`: with rank i on process_of_rank[i]. */
typedef struct {
    double before, after;
    int64_t inter_node_bytes_before, inter_node_bytes_after;
} topoloom_gain;

/* Chooses process_of_rank[i] for each rank i. There may be fewer ranks than processes. If no better order is
 * found, the result is rank i on process i. `options` is NULL, or any of
 *   mapper=auto(effort=fast)  as for `topoloom map`; chains are written with +
 *   objective=hop-bytes       or congestion, congestion-soft, time
 *   seed=1, threads=0 (0: all cores), seconds=8 (0: no limit)
 * separated by commas. The order depends only on the input, unless the time limit ends the search. */
TOPOLOOM_API int topoloom_order(const topoloom_process_map* process_map, const topoloom_pattern* pattern,
                                const char* options, uint32_t* process_of_rank, topoloom_gain* gain,
                                char* error, size_t error_size);

/* Chooses process_of_rank[i], the process at position i of a binomial tree, root first. A message from
 * process i to j takes seconds[i * processes + j], from 0 to 1e9. `order` is
 *   standard: root, root + 1, ...; seconds may be NULL.
 *   random: a random order; seconds may be NULL.
 *   fastest-edge-first: fast edges first, by groups of near processes; without groups, the standard order.
 *   channel-aware: by groups, for networks that carry `channels` messages between two groups as fast as one.
 * Source: Karlsson 2012, alg. 4.7 to 4.9. */
TOPOLOOM_API int topoloom_binomial_order(size_t processes, const double* seconds, const char* order,
                                         size_t root, uint32_t channels, uint64_t seed,
                                         uint32_t* process_of_rank, char* error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
