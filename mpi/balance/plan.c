// SPDX-License-Identifier: BSD-3-Clause
// Plans of a rank: made of what was decided, or of what the program gives.
#include <stdlib.h>

#include "balance.h"
#include "errors.h"

/// One allocation: the plan, and behind it its arrays.
static struct plan* allocate_plan(const topoloom_own_plan* own, long long count) {
    const size_t shares = own->to_count + own->from_count;
    struct plan* plan = calloc(1, sizeof *plan + shares * (sizeof(long long) + sizeof(int)));
    if (plan == NULL) return NULL;
    long long* tasks = (long long*)(plan + 1);
    int* ranks = (int*)(tasks + shares);
    plan->front = (topoloom_plan){.before = count,
                                  .after = count,
                                  .kept = count,
                                  .to_count = (int)own->to_count,
                                  .from_count = (int)own->from_count,
                                  .to = ranks,
                                  .from = ranks + own->to_count,
                                  .tasks_to = tasks,
                                  .tasks_from = tasks + own->to_count};
    for (size_t i = 0; i < shares; ++i) {
        const bool leaves = i < own->to_count;
        const topoloom_share* share = leaves ? &own->to[i] : &own->from[i - own->to_count];
        ranks[i] = (int)share->rank;
        tasks[i] = share->tasks;
        plan->front.after += leaves ? -share->tasks : share->tasks;
        if (leaves) plan->front.kept -= share->tasks;
    }
    return plan;
}

int make_plan(struct state* state, const topoloom_own_plan* own, long long count, double patience,
              topoloom_plan** plan) {
    struct plan* made = allocate_plan(own, count);
    if (made == NULL) return raise_error(state->own, MPI_ERR_NO_MEM, "balance", "there is no memory");
    made->state = state;
    made->number = state->plans++;
    made->patience = patience;
    hold_state(state);
    *plan = &made->front;
    return MPI_SUCCESS;
}

/// Fills in tasks by rank; returns why it cannot, or NULL.
static const char* spread(const struct state* state, long long count, int to_count, const int* to,
                          const long long* tasks_to, long long* tasks) {
    if (count < 0 || to_count < 0) return "the number of tasks or of receivers is negative";
    for (int i = 0; i < to_count; ++i) {
        if (to[i] < 0 || to[i] >= state->ranks || to[i] == state->rank)
            return "a receiver is not another rank";
        if (tasks[to[i]] != 0) return "a receiver is named twice";
        if (tasks_to[i] < 0) return "a receiver is handed less than no task";
        if (tasks_to[i] > count) return "more tasks are handed over than there are";
        tasks[to[i]] = tasks_to[i];
        count -= tasks_to[i];
    }
    return NULL;
}

/// From what this rank gives, and tasks[i] that rank i does.
static int make_given(struct state* state, long long count, int to_count, const int* to,
                      const long long* tasks_to, const long long* tasks, double patience,
                      topoloom_plan** plan) {
    topoloom_share* shares = malloc(((size_t)to_count + (size_t)state->ranks) * sizeof *shares);
    if (shares == NULL) return raise_error(state->own, MPI_ERR_NO_MEM, "plan_given", "there is no memory");
    topoloom_own_plan own = {.to = shares, .from = shares + to_count};
    for (int i = 0; i < to_count; ++i)
        if (tasks_to[i] > 0) shares[own.to_count++] = (topoloom_share){(uint32_t)to[i], tasks_to[i]};
    for (int i = 0; i < state->ranks; ++i)
        if (tasks[i] > 0)
            shares[(size_t)to_count + own.from_count++] = (topoloom_share){(uint32_t)i, tasks[i]};
    const int status = make_plan(state, &own, count, patience, plan);
    if (status == MPI_SUCCESS) ((struct plan*)*plan)->is_given = true;
    free(shares);
    return status;
}

int topoloom_plan_given(MPI_Comm comm, long long count, int to_count, const int* to,
                        const long long* tasks_to, const topoloom_balance_options* options,
                        topoloom_plan** plan) {
    struct state* state = NULL;
    clear_error_message();
    int status = find_state(comm, &state);
    if (status != MPI_SUCCESS) return status;
    long long *given = calloc((size_t)state->ranks, sizeof *given),
              *taken = malloc((size_t)state->ranks * sizeof *taken);
    const double patience = options != NULL ? options->patience : 0;
    if (given == NULL || taken == NULL) {
        free(given);
        free(taken);
        return raise_error(state->own, MPI_ERR_NO_MEM, "plan_given", "there is no memory");
    }
    const char* fault = patience >= 0 ? spread(state, count, to_count, to, tasks_to, given)
                                      : "the patience is less than none";
    // Who gives no plan says so to all, who would wait for its tasks otherwise.
    for (int i = 0; fault != NULL && i < state->ranks; ++i) given[i] = -1;
    status = PMPI_Alltoall(given, 1, MPI_LONG_LONG, taken, 1, MPI_LONG_LONG, state->own);
    int faulty = -1;
    for (int i = state->ranks - 1; i >= 0 && status == MPI_SUCCESS; --i)
        if (taken[i] < 0) faulty = i;
    if (status == MPI_SUCCESS && fault != NULL)
        status = raise_error(state->own, MPI_ERR_ARG, "plan_given", "%s", fault);
    else if (status == MPI_SUCCESS && faulty >= 0)
        status = raise_error(state->own, MPI_ERR_ARG, "plan_given", "rank %d gives no plan", faulty);
    else if (status == MPI_SUCCESS)
        status = make_given(state, count, to_count, to, tasks_to, taken, patience, plan);
    free(given);
    free(taken);
    return status;
}

int topoloom_plan_free(topoloom_plan** plan) {
    clear_error_message();
    if (plan == NULL) return raise_error(MPI_COMM_WORLD, MPI_ERR_ARG, "plan_free", "the plan is NULL");
    struct plan* made = (struct plan*)*plan;
    *plan = NULL;
    if (made == NULL) return MPI_SUCCESS;
    release_state(made->state);
    free(made);
    return MPI_SUCCESS;
}
