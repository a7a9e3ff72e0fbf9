// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the library offer each other. Functions that return int return what the public ones do.
#ifndef TOPOLOOM_BALANCE_PARTS_H
#define TOPOLOOM_BALANCE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "topoloom_balance.h"
#include "topoloom_balancers.h"

/// What a communicator carries as an attribute.
struct state {
    MPI_Comm own;  // a duplicate, with the program's error handler
    int rank, ranks;
    int users;  // the attribute, and plans
    int plans;  // that were made
    topoloom_balancer* balancer;
    char *method, *machine;  // of the balancer
    int slot;
    bool is_compared;     // whether all ranks give the same options
    struct nodes* nodes;  // NULL: not yet asked for
    struct process* process;
    struct state* next;
};

/// Tags: of letters while ranks decide, then of exchanges.
enum { gather_tag = 15, letter_tags = 16, exchange_tags = 3, exchanges_at_once = 8, plans_at_once = 1024 };
enum exchange_tag { size_tag, room_tag, task_tag };

struct plan {
    topoloom_plan front;
    struct state* state;
    int number;     // of the communicator's plans
    int exchanges;  // that were started
    double patience;
    bool is_given;    // by the program: ranks may hand over in a circle
    bool makes_room;  // each rank, for what comes beside what it has
};

/// Finds the state, or makes it, collectively.
int find_state(MPI_Comm comm, struct state** state);
void hold_state(struct state* state);
void release_state(struct state* state);

/// Refuses, on all ranks, options that are not the same on all of them; collective.
int compare_options(const struct state* state, const topoloom_balance_options* options);

/// The balancer of these options, which is kept for the next call with the same; collective.
int find_balancer(struct state* state, const topoloom_balance_options* options, const char* method);

/// Of all ranks, by nodes where that is faster; they stay until the next gathering. Collective.
int gather_loads(struct state* state, int64_t load, const int64_t** loads);
/// Whether that is faster than decide_by_messages(); collective.
int compare_ways(struct state* state, const topoloom_balance_options* options, bool* gathers);
/// Frees what MPI has of nodes, collectively; then free_nodes() frees the rest.
void close_nodes(struct nodes* nodes);
void free_nodes(struct nodes* nodes);

/// The plan of these shares; it holds the state.
int make_plan(struct state* state, const topoloom_own_plan* own, long long count, double patience,
              topoloom_plan** plan);

/// topoloom_decide by messages of MPI.
int decide_by_messages(struct state* state, long long count, topoloom_own_plan* own);

#endif
