// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a communicator's ranks, and the board that those of a node share.
#ifndef TOPOLOOM_BALANCE_NODES_H
#define TOPOLOOM_BALANCE_NODES_H

#include <stdatomic.h>

#include "balance.h"

/// What the ranks of a node share. Counters only grow, by the node's ranks in each gathering, so that none must set them back.
struct board {
    _Atomic int64_t written;    // own loads
    _Atomic int64_t came;       // what ranks get from other nodes
    _Atomic int64_t failed_in;  // the first gathering in which MPI failed; 0: none
    _Atomic int failed_rank;    // one for which it did
    int64_t loads[];            // by rank, of this gathering and of that before, which some may still read
};

struct nodes {
    MPI_Comm comm;        // of this node's ranks
    MPI_Win window;       // with the board
    struct board* board;  // NULL: MPI gathers
    int64_t gatherings;   // that were begun
    int local, own;       // this rank in the node, and the node's number
    int count;            // of nodes
    int *first, *member;  // by node, where its ranks begin in `member`; they ascend
    int64_t* loads;       // by rank, of the last gathering
    int64_t* messages;    // own loads, and those that come: of all ranks together
    MPI_Request* requests;
    MPI_Status* statuses;
    int refusals;  // gatherings that have failed
};

static inline int size_of(const struct nodes* nodes, int node) {
    return nodes->first[node + 1] - nodes->first[node];
}

/// Finds them unless they are known, and makes boards where they pay; collective. Where a rank has no memory, all say so.
int know_nodes(struct state* state);

#endif
