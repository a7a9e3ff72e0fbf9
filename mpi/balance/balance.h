// SPDX-License-Identifier: BSD-3-Clause
// Internal interfaces of libtopoloom-balance. Functions that return int return MPI error codes.
#ifndef TOPOLOOM_BALANCE_PARTS_H
#define TOPOLOOM_BALANCE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "topoloom_balance.h"
#include "topoloom_balancers.h"

/// The attribute of a communicator.
struct comm_state {
    MPI_Comm own;  // a duplicate, with the program's error handler
    int rank, ranks;
    int users;  // the attribute, and plans
    int plans;  // created so far
    topoloom_balancer* balancer;
    char *method, *machine;  // of the balancer
    int slot;
    bool has_equal_options;  // on all ranks
    struct nodes* nodes;     // NULL: not found yet
    struct process* process;
    struct comm_state* next;
};

/// Tags: first those of decisions, then those of exchanges.
enum { gather_tag = 15, decision_tags = 16, exchange_tags = 3, exchanges_at_once = 8, plans_at_once = 1024 };
enum exchange_tag { size_tag, reply_tag, task_tag };

struct plan {
    topoloom_plan shares;  // must be first
    struct comm_state* state;
    int number;     // of the communicator's plans
    int exchanges;  // started so far
    double stall_timeout;
    bool is_user_defined;   // by topoloom_plan_create: may contain cycles
    bool reserve_capacity;  // all ranks guarantee capacity for received tasks besides all present ones
};

// ---- comm_state.c ------------------------------------------------------------------------------------------------
/// Finds or creates the state of a communicator. Collective.
int find_state(MPI_Comm comm, struct comm_state** state);
void retain_state(struct comm_state* state);
void release_state(struct comm_state* state);

// ---- compare_options.c -------------------------------------------------------------------------------------------
/// Fails on all ranks if options differ. Collective.
int compare_options(const struct comm_state* state, const topoloom_balance_options* options);

// ---- node_memory.c -----------------------------------------------------------------------------------------------
/// Compares gathering loads with decide_by_messages(). Collective.
int choose_decision(struct comm_state* state, const topoloom_balance_options* options, bool* gathers);
/// Frees the MPI objects of nodes; collective. free_nodes() frees the rest.
void close_nodes(struct nodes* nodes);
void free_nodes(struct nodes* nodes);

// ---- gather_loads.c ----------------------------------------------------------------------------------------------
/// Gathers the loads of all ranks, valid until the next call. Collective.
int gather_loads(struct comm_state* state, int64_t load, const int64_t** loads);

// ---- decide_by_messages.c ----------------------------------------------------------------------------------------
/// Computes a plan by topoloom_decide. Collective.
int decide_by_messages(struct comm_state* state, long long count, topoloom_own_plan* own);

// ---- plan.c ------------------------------------------------------------------------------------------------------
/// Makes a plan from these shares; it retains the state.
int make_plan(struct comm_state* state, const topoloom_own_plan* own, long long count, double stall_timeout,
              struct plan** plan);

#endif
