// SPDX-License-Identifier: BSD-3-Clause
// Creates the plan of a rank, from a balancer's decision or from the program.
#include <stdlib.h>

#include "balance.h"
#include "errors.h"

/// Allocates a plan and its arrays as one block.
static struct plan* allocate_plan(const topoloom_own_plan* own, long long count) {
    const size_t peers = own->to_count + own->from_count;
    struct plan* plan = calloc(1, sizeof *plan + peers * (sizeof(long long) + sizeof(int)));
    if (plan == NULL) return NULL;
    long long* tasks = (long long*)(plan + 1);
    int* ranks = (int*)(tasks + peers);
    plan->shares = (topoloom_plan){.before = count,
                                   .after = count,
                                   .kept = count,
                                   .to_count = (int)own->to_count,
                                   .from_count = (int)own->from_count,
                                   .to = ranks,
                                   .from = ranks + own->to_count,
                                   .tasks_to = tasks,
                                   .tasks_from = tasks + own->to_count};
    for (size_t i = 0; i < peers; ++i) {
        const bool is_sent = i < own->to_count;
        const topoloom_share* share = is_sent ? &own->to[i] : &own->from[i - own->to_count];
        ranks[i] = (int)share->rank;
        tasks[i] = share->tasks;
        plan->shares.after += is_sent ? -share->tasks : share->tasks;
        if (is_sent) plan->shares.kept -= share->tasks;
    }
    return plan;
}

int make_plan(struct comm_state* state, const topoloom_own_plan* own, long long count, double stall_timeout,
              struct plan** plan) {
    struct plan* created = allocate_plan(own, count);
    if (created == NULL) return raise_error(state->own, MPI_ERR_NO_MEM, "balance", "not enough memory");
    created->state = state;
    created->number = state->plans++;
    created->stall_timeout = stall_timeout;
    retain_state(state);
    *plan = created;
    return MPI_SUCCESS;
}

/// Checks the arguments, and writes the number of tasks for each rank. Returns a description of an invalid argument, or
/// NULL.
static const char* list_tasks_by_rank(const struct comm_state* state, long long count, int to_count,
                                      const int* to, const long long* tasks_to, long long* tasks) {
    if (count < 0 || to_count < 0) return "count or to_count is negative";
    for (int i = 0; i < to_count; ++i) {
        if (to[i] < 0 || to[i] >= state->ranks || to[i] == state->rank)
            return "a receiver is not another rank of the communicator";
        if (tasks[to[i]] != 0) return "a receiver occurs twice";
        if (tasks_to[i] < 0) return "a number in tasks_to is negative";
        if (tasks_to[i] > count) return "tasks_to adds up to more tasks than this rank has";
        tasks[to[i]] = tasks_to[i];
        count -= tasks_to[i];
    }
    return NULL;
}

/// Creates a plan in which this rank sends tasks_to, and receives tasks_from[i] tasks from rank i.
static int make_user_plan(struct comm_state* state, long long count, int to_count, const int* to,
                          const long long* tasks_to, const long long* tasks_from, double stall_timeout,
                          topoloom_plan** plan) {
    topoloom_share* shares = malloc(((size_t)to_count + (size_t)state->ranks) * sizeof *shares);
    if (shares == NULL) return raise_error(state->own, MPI_ERR_NO_MEM, "plan_create", "not enough memory");
    topoloom_own_plan own = {.to = shares, .from = shares + to_count};
    for (int i = 0; i < to_count; ++i)
        if (tasks_to[i] > 0) shares[own.to_count++] = (topoloom_share){(uint32_t)to[i], tasks_to[i]};
    for (int i = 0; i < state->ranks; ++i)
        if (tasks_from[i] > 0)
            shares[(size_t)to_count + own.from_count++] = (topoloom_share){(uint32_t)i, tasks_from[i]};
    struct plan* created = NULL;
    const int status = make_plan(state, &own, count, stall_timeout, &created);
    free(shares);
    if (status != MPI_SUCCESS) return status;
    created->is_user_defined = true;
    *plan = &created->shares;
    return status;
}

int topoloom_plan_create(MPI_Comm comm, long long count, int to_count, const int* to,
                         const long long* tasks_to, const topoloom_balance_options* options,
                         topoloom_plan** plan) {
    struct comm_state* state = NULL;
    clear_error_message();
    int status = find_or_create_state(comm, &state);
    if (status != MPI_SUCCESS) return status;
    long long *sent = calloc((size_t)state->ranks, sizeof *sent),
              *received = malloc((size_t)state->ranks * sizeof *received);
    const double stall_timeout = options != NULL ? options->stall_timeout : 0;
    if (sent == NULL || received == NULL) {
        free(sent);
        free(received);
        return raise_error(state->own, MPI_ERR_NO_MEM, "plan_create", "not enough memory");
    }
    const char* fault = stall_timeout >= 0 ? list_tasks_by_rank(state, count, to_count, to, tasks_to, sent)
                                           : "stall_timeout is negative";
    // Notifies all ranks, which would otherwise wait for tasks from this rank.
    for (int i = 0; fault != NULL && i < state->ranks; ++i) sent[i] = -1;
    status = PMPI_Alltoall(sent, 1, MPI_LONG_LONG, received, 1, MPI_LONG_LONG, state->own);
    int faulty = -1;
    for (int i = state->ranks - 1; i >= 0 && status == MPI_SUCCESS; --i)
        if (received[i] < 0) faulty = i;
    if (status == MPI_SUCCESS && fault != NULL)
        status = raise_error(state->own, MPI_ERR_ARG, "plan_create", "%s", fault);
    else if (status == MPI_SUCCESS && faulty >= 0)
        status =
            raise_error(state->own, MPI_ERR_ARG, "plan_create", "rank %d passed invalid arguments", faulty);
    else if (status == MPI_SUCCESS)
        status = make_user_plan(state, count, to_count, to, tasks_to, received, stall_timeout, plan);
    free(sent);
    free(received);
    return status;
}

int topoloom_plan_free(topoloom_plan** plan) {
    clear_error_message();
    if (plan == NULL) return raise_error(MPI_COMM_WORLD, MPI_ERR_ARG, "plan_free", "the plan is NULL");
    struct plan* created = (struct plan*)*plan;
    *plan = NULL;
    if (created == NULL) return MPI_SUCCESS;
    release_state(created->state);
    free(created);
    return MPI_SUCCESS;
}
