// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a communicator's ranks, and the memory that the ranks of a node share to gather loads.
#ifndef TOPOLOOM_BALANCE_NODE_MEMORY_H
#define TOPOLOOM_BALANCE_NODE_MEMORY_H

#include <stdatomic.h>

#include "balance.h"

/// Shared by the ranks of a node. Counters grow by the node's ranks in each gathering, so they need no reset.
struct shared_loads {
    _Atomic int64_t written;    // own loads
    _Atomic int64_t received;   // shares of other nodes' loads
    _Atomic int64_t failed_in;  // the first gathering in which MPI failed; 0: none
    _Atomic int failed_rank;    // one for which it failed
    int64_t loads[];            // by rank, of this gathering and of the previous one, which may still be read
};

struct nodes {
    MPI_Comm comm;                // of this node's ranks
    MPI_Win window;               // of the shared memory
    struct shared_loads* shared;  // NULL: MPI_Allgather is used
    int64_t gatherings;           // begun so far
    int local, own;               // this rank's number in its node, and the number of the node
    int count;
    int *first, *member;  // member[first[n]] to member[first[n + 1] - 1] are the ranks of node n, ascending
    int64_t* loads;       // by rank, of the last gathering
    int64_t* messages;    // own loads, then received ones
    MPI_Request* requests;
    MPI_Status* statuses;
    int failures;  // gatherings that failed
};

static inline int node_size(const struct nodes* nodes, int node) {
    return nodes->first[node + 1] - nodes->first[node];
}

/// Finds the nodes of a communicator once, and allocates shared memory if it pays. Collective. Fails on all ranks if one has not
/// enough memory.
int find_nodes(struct comm_state* state);

#endif
