// SPDX-License-Identifier: BSD-3-Clause
// Internal declarations of libtopoloom-mpi. The library calls only PMPI_ functions, so that tools do not attribute its
// messages to the program.
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
    int64_t switches[switch_levels];  // hashes of the paths to the switches, outermost first; 0 = unknown
    int64_t node;                     // hash of host name and boot id
    int64_t cores[core_levels];  // package, NUMA domain, cache and core of the binding; -1 = not bound to one
    char host[host_length];      // Linux allows at most 64 characters
};
void find_location(struct location* location);

// ---- mapping.c: on rank 0 ----------------------------------------------------------------------------------
/// Locations and neighbor lists of all ranks, in rank order: rank r has counts[r] pairs of peer and bytes.
struct gathered_lists {
    int ranks;
    const struct location* locations;
    const int64_t* counts;
    const int64_t (*neighbors)[2];
};
enum order_outcome { kept, reordered, failed };
/// Costs of one order, or sums over all orders that this process has computed as rank 0.
struct reorder_stats {
    int64_t topologies, reordered, failed;
    int64_t inter_node_bytes_before, inter_node_bytes_after;
    double before, after;
};
/// Computes new_rank[p] for each process p.
enum order_outcome compute_new_ranks(const struct gathered_lists* job, const char* options, int* new_rank,
                                     struct reorder_stats* stats, char* error, size_t error_size);
/// Formats the gain as one line without newline.
void format_gain(const struct reorder_stats* gain, char* line, size_t size);

// ---- order.c --------------------------------------------------------------------------------------------
/// Returns this process's rank in a better order, or -1 on all processes if no better order was found. `stats` is set
/// on rank 0, and zero on other ranks. A negative count means that memory for the list was exhausted on this process.
/// Collective.
int find_better_rank(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[],
                     const char* options, struct reorder_stats* stats);

// ---- reorder_stats.c ---------------------------------------------------------------------------------------
extern struct reorder_stats reorder_totals;
void add_to_totals(const struct reorder_stats* stats);
/// Counts a better order that could not be used.
void add_failure_to_totals(const struct reorder_stats* stats, const char* reason);
/// Warns only once per process, because programs may create thousands of topologies.
void print_not_reordered(const char* reason);

#endif
