// SPDX-License-Identifier: BSD-3-Clause
// What the parts of libtopoloom-mpi offer each other. They call PMPI_ only, so that no tool takes our
// messages for the program's.
#ifndef TOPOLOOM_REORDER_H
#define TOPOLOOM_REORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine_file.h"
#include "topoloom.h"
#include "topoloom_mpi.h"

// ---- location.c: what a process knows about its place ---------------------------------------------------
enum { switch_levels = 4, core_levels = 4, host_length = 72 };
struct location {
    int64_t switches[switch_levels];  // the outermost first; each a hash of the whole path to it, 0 = unknown
    int64_t node;                     // a hash of what all processes of the node know
    int64_t cores[core_levels];  // package, NUMA domain, cache and core that it is bound to, -1 = to none
    char host[host_length];      // Linux allows 64 letters
};
void find_location(struct location* location);

// ---- mapping.c: what rank 0 does with what it got -------------------------------------------------------
/// The rows of all ranks one after another: counts[r] neighbors of rank r, each as peer and bytes.
struct gathered {
    int ranks;
    const struct location* locations;
    const int64_t* counts;
    const int64_t (*neighbors)[2];
};
enum outcome { kept, reordered, failed };
/// What orders are worth: one, or all that this process has found as rank 0.
struct tally {
    int64_t topologies, reordered, failed;
    int64_t inter_node_bytes_before, inter_node_bytes_after;
    double before, after;
};
/// new_rank[p] for each process p and what that is worth; the reason where it failed.
enum outcome map_ranks(const struct gathered* job, const char* options, int* new_rank, struct tally* one,
                       char* why, size_t why_size);
/// One line about it, without an end of line.
void describe_gain(const struct tally* gain, char* line, size_t size);

// ---- order.c --------------------------------------------------------------------------------------------
/// Collective: this process's rank in the better order, or -1 on all processes where they should stay; what
/// it is worth on rank 0, and nothing elsewhere. A negative count says that this process has no memory for its
/// list.
int better_rank(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[], const char* options,
                struct tally* worth);

// ---- account.c: for those that report it at the end -----------------------------------------------------
extern struct tally tally;
void account(const struct tally* worth);
/// The order that was found could not be used.
void account_lost(const struct tally* worth, const char* why);
/// Once in each process: programs may make thousands of topologies.
void say_not_reordered(const char* why);

#endif
