/* SPDX-License-Identifier: BSD-3-Clause */
/* The C face of libtopoloom: which process of a running job should do the work of which rank. No MPI in here.
 *
 * Functions that return int return 0, or 1 with one line of text in `error` (of `error_size` bytes, 256 are
 * enough); then nothing that they would have made exists. No exception leaves the library. Calls on
 * different objects may run at the same time.
 */
#ifndef TOPOLOOM_H
#define TOPOLOOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOPOLOOM_API __attribute__((visibility("default")))

/* A machine, and where each process of a job is on it. */
typedef struct topoloom_process_map topoloom_process_map; /* NOLINT(readability-identifier-naming): C */

/* Learns a machine from what processes share. groups[p * levels + l] is the group of process p at level l, the
 * outermost first: switches, the node (l == node_level), then what cores share, such as package, NUMA
 * domain, cache and core. Equal numbers mean the same group only within the same group of the level before.
 * Switches and nodes become a tree in which the path over one switch costs 32, and each further switch 32 more;
 * within a node processes are 16 apart, and half as far for each further group that they share. Groups need
 * not be equally large. */
TOPOLOOM_API int topoloom_process_map_from_groups(size_t processes, size_t levels, size_t node_level,
                                                  const int64_t* groups, topoloom_process_map** process_map,
                                                  char* error, size_t error_size);

/* The same on a machine given by its short text, as torus:8x8x8 or tree:4:8+node:12:2,distance=1:10. The
 * first of the `levels` groups of a process is the number of its node in the machine; the others order the
 * processes of a node along its slots, which are divided where there are more processes than slots. */
TOPOLOOM_API int topoloom_process_map_on_machine(const char* machine, size_t processes, size_t levels,
                                                 const int64_t* groups, topoloom_process_map** process_map,
                                                 char* error, size_t error_size);

/* The short text of the machine; lives as long as the process map. */
TOPOLOOM_API const char* topoloom_process_map_machine(const topoloom_process_map* process_map);

TOPOLOOM_API void topoloom_process_map_free(topoloom_process_map* process_map);

/* Who sends how much to whom, in compressed sparse rows: rank u sends bytes[k] to peers[k] for
 * first[u] <= k < first[u + 1]. Duplicates are summed. */
typedef struct {
    size_t ranks;
    const uint64_t* first;
    const uint32_t* peers;
    const int64_t* bytes;
} topoloom_pattern;

/* What an order is worth: the objective (for hop-bytes, bytes times distance) and the bytes that leave a
 * node, with rank i on process i and with rank i on process_of_rank[i]. */
typedef struct {
    double before, after;
    int64_t inter_node_bytes_before, inter_node_bytes_after;
} topoloom_gain;

/* Chooses process_of_rank[i] for each rank; there may be fewer ranks than processes. The order is never
 * worse than rank i on process i, and exactly that where nothing better was found. `options` is NULL,
 * or any of
 *   mapper=auto(effort=fast)  as for `topoloom map`; chains are written with +
 *   objective=hop-bytes       or congestion, congestion-soft, time
 *   seed=1, threads=0 (0: all cores), seconds=8 (0: no limit)
 * separated by commas. With the same input the order is the same, unless seconds end the search. */
TOPOLOOM_API int topoloom_order(const topoloom_process_map* process_map, const topoloom_pattern* pattern,
                                const char* options, uint32_t* process_of_rank, topoloom_gain* gain,
                                char* error, size_t error_size);

/* Chooses process_of_rank[i] for each position of a binomial tree, the root's first, where a message from process i to j
 * takes seconds[i * processes + j] from 0 to 1e9. `order` is standard (root, root + 1, ...), random, for both of which
 * seconds may be NULL, or by groups of near processes fastest-edge-first or channel-aware (channels: messages between two
 * groups that are as fast as one); the last two are the standard one where there are no groups. Source: Karlsson 2012,
 * alg. 4.7 to 4.9. */
TOPOLOOM_API int topoloom_binomial_order(size_t processes, const double* seconds, const char* order,
                                         size_t root, uint32_t channels, uint64_t seed,
                                         uint32_t* process_of_rank, char* error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
