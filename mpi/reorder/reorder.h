// SPDX-License-Identifier: BSD-3-Clause
// Internal declarations of libtopoloom-mpi. It calls only PMPI_ functions, so that tools do not attribute its messages to
// the program.
#ifndef TOPOLOOM_REORDER_H
#define TOPOLOOM_REORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine_file.h"
#include "topoloom.h"
#include "topoloom_mpi.h"

// ---- location.c: where a process runs ---------------------------------------------------------------------
enum { switch_levels = 4, core_levels = 4, host_length = 72 };
struct location {
    int64_t switches[switch_levels];  // outermost first; each a hash of the path to it, 0 = unknown
    int64_t node;                     // a hash of host name and boot id
    int64_t cores[core_levels];  // package, NUMA domain, cache and core of its binding, -1 = not bound to one
    char host[host_length];      // Linux allows 64 characters
};
void find_location(struct location* location);

// ---- mapping.c: on rank 0 ----------------------------------------------------------------------------------
/// The neighbor lists of all ranks in rank order: counts[r] pairs of peer and bytes of rank r.
struct gathered {
    int ranks;
    const struct location* locations;
    const int64_t* counts;
    const int64_t (*neighbors)[2];
};
enum outcome { kept, reordered, failed };
/// Costs of one order, or sums over all that this process has found as rank 0.
struct reorder_stats {
    int64_t topologies, reordered, failed;
    int64_t inter_node_bytes_before, inter_node_bytes_after;
    double before, after;
};
/// Finds new_rank[p] for each process p.
enum outcome map_ranks(const struct gathered* job, const char* options, int* new_rank,
                       struct reorder_stats* one, char* error, size_t error_size);
/// Formats one line, without a newline.
void format_gain(const struct reorder_stats* gain, char* line, size_t size);

// ---- order.c --------------------------------------------------------------------------------------------
/// Returns this process's rank in a better order, or -1 on all processes if there is none. `stats` is set on rank 0, zero
/// elsewhere. A negative count means that this process had no memory for its list. Collective.
int find_better_rank(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[],
                     const char* options, struct reorder_stats* stats);

// ---- reorder_stats.c ---------------------------------------------------------------------------------------
extern struct reorder_stats reorder_totals;
void add_to_totals(const struct reorder_stats* stats);
/// The better order could not be used.
void add_failure_to_totals(const struct reorder_stats* stats, const char* reason);
/// Warns once per process, because programs may create thousands of topologies.
void warn_not_reordered(const char* reason);

#endif
