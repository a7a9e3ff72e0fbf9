// SPDX-License-Identifier: BSD-3-Clause
// Internal interfaces of libtopoloom-balance. Functions of type int return MPI error codes.
#ifndef TOPOLOOM_BALANCE_PARTS_H
#define TOPOLOOM_BALANCE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "topoloom_balance.h"
#include "topoloom_balancers.h"

/// State of a communicator, stored as its attribute.
struct comm_state {
    MPI_Comm own;  // private duplicate of the communicator, with the program's error handler
    int rank, ranks;
    int users;  // reference count: one for the attribute, one per plan
    int plans;  // number of plans created so far
    topoloom_balancer* balancer;
    char *method, *machine;  // method and machine of the current balancer
    int slot;
    bool has_equal_options;  // whether the options are equal on all ranks
    struct nodes* nodes;     // NULL: nodes are not yet known
    struct process_state* process;
    struct comm_state* next;
};

/// Message tags: the first ones are used to decide on a plan, the others for exchanges.
enum { gather_tag = 15, decision_tags = 16, exchange_tags = 3, exchanges_at_once = 8, plans_at_once = 1024 };
enum exchange_tag { size_tag, reply_tag, task_tag };

struct plan {
    topoloom_plan shares;  // must be the first member, because plans are cast to topoloom_plan
    struct comm_state* state;
    int number;     // index of the plan on its communicator
    int exchanges;  // number of exchanges started so far
    double stall_timeout;
    bool is_user_defined;   // the plan was created by topoloom_plan_create, and may contain cycles
    bool reserve_capacity;  // all ranks guarantee capacity for their present tasks plus the received ones
};

// ---- comm_state.c ------------------------------------------------------------------------------------------------
/// Finds or creates the state of a communicator. Collective.
int find_or_create_state(MPI_Comm comm, struct comm_state** state);
void retain_state(struct comm_state* state);
void release_state(struct comm_state* state);

// ---- compare_options.c -------------------------------------------------------------------------------------------
/// Raises an error on all ranks if options differ. Collective.
int compare_options(const struct comm_state* state, const topoloom_balance_options* options);

// ---- node_memory.c -----------------------------------------------------------------------------------------------
/// Chooses the faster of gather_loads() and decide_by_messages() by predicted time. Collective.
int choose_decision_method(struct comm_state* state, const topoloom_balance_options* options,
                           bool* should_gather);
/// Frees the communicator of a node's ranks and the window of their shared memory. Collective. free_nodes()
/// frees the rest.
void free_node_mpi_objects(struct nodes* nodes);
void free_nodes(struct nodes* nodes);

// ---- gather_loads.c ----------------------------------------------------------------------------------------------
/// Gathers the loads of all ranks into an array that is valid until the next call. Collective.
int gather_loads(struct comm_state* state, int64_t load, const int64_t** loads);

// ---- decide_by_messages.c ----------------------------------------------------------------------------------------
/// Computes a plan by topoloom_decide_by_messages(). Collective.
int decide_by_messages(struct comm_state* state, long long count, topoloom_own_plan* own);

// ---- plan.c ------------------------------------------------------------------------------------------------------
/// Creates a plan from the transfers of this rank. The plan retains the state.
int make_plan(struct comm_state* state, const topoloom_own_plan* own, long long count, double stall_timeout,
              struct plan** plan);

#endif
