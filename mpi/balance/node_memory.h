// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a communicator, and the shared memory in which the ranks of a node gather loads.
#ifndef TOPOLOOM_BALANCE_NODE_MEMORY_H
#define TOPOLOOM_BALANCE_NODE_MEMORY_H

#include <stdatomic.h>

#include "balance.h"

/// Memory shared by the ranks of a node. Counters grow by the node's rank count per gathering, so they are never reset.
struct shared_loads {
    _Atomic int64_t written;    // how often ranks have written their own load
    _Atomic int64_t received;   // how often ranks have received their share of other nodes' loads
    _Atomic int64_t failed_in;  // index of the first gathering in which MPI failed; 0: none
    _Atomic int failed_rank;    // a rank on which MPI failed
    int64_t loads[];  // loads by rank, of this gathering and of the previous one, which ranks may still read
};

struct nodes {
    MPI_Comm comm;                // communicator of the ranks of this node
    MPI_Win window;               // window of the shared memory
    struct shared_loads* shared;  // shared memory; NULL: gather by MPI_Allgather
    int64_t gatherings;           // number of gatherings begun so far
    int local, own;               // local: this rank in `comm`; own: index of this node
    int count;
    int *first, *member;  // member[first[n]] to member[first[n + 1] - 1] are the ranks of node n, ascending
    int64_t* loads;       // loads by rank, from the last gathering
    int64_t* messages;    // send and receive buffer: own loads, then received loads
    MPI_Request* requests;
    MPI_Status* statuses;
    int failures;  // number of failed gatherings
};

static inline int get_node_size(const struct nodes* nodes, int node) {
    return nodes->first[node + 1] - nodes->first[node];
}

/// Finds the nodes of a communicator, and allocates shared memory if it pays off. Collective, once per communicator.
/// Raises an error on all ranks if memory is exhausted on one.
int find_nodes(struct comm_state* state);

#endif
