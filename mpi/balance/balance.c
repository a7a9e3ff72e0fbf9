// SPDX-License-Identifier: BSD-3-Clause
// topoloom_balance(): finds a balancer, and computes this rank's part of the plan.
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "errors.h"

static bool is_same_text(const char* left, const char* right) {
    return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

static char* copy_text(const char* text) {
    if (text == NULL) return NULL;
    char* copy = malloc(strlen(text) + 1);
    return copy == NULL ? NULL : strcpy(copy, text);
}

static int gather_slots(const struct comm_state* state, const topoloom_balance_options* options,
                        uint32_t** slots) {
    int* all = malloc((size_t)state->ranks * sizeof *all);
    if (all == NULL) return raise_error(state->own, MPI_ERR_NO_MEM, "balance", "not enough memory");
    const int status = PMPI_Allgather(&options->slot, 1, MPI_INT, all, 1, MPI_INT, state->own);
    if (status != MPI_SUCCESS) {
        free(all);
        return status;
    }
    for (int rank = 0; rank < state->ranks; ++rank) {
        if (all[rank] >= 0) continue;
        const int slot = all[rank];
        free(all);
        return raise_error(state->own, MPI_ERR_ARG, "balance", "rank %d has slot %d, but slots start at 0",
                           rank, slot);
    }
    _Static_assert(sizeof(int) == sizeof(uint32_t), "non-negative values are the same");
    *slots = (uint32_t*)all;
    return status;
}

static int compare_slots(const void* left, const void* right) {
    const uint32_t *a = left, *b = right;
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return a[1] < b[1] ? -1 : 1;
}

/// Raises an error, with the same message on all ranks, if two ranks share a slot.
static int check_slots(const struct comm_state* state, const uint32_t* slots, const char* machine) {
    const size_t ranks = (size_t)state->ranks;
    uint32_t (*sorted)[2] = malloc(ranks * sizeof *sorted);
    if (sorted == NULL) return raise_error(state->own, MPI_ERR_NO_MEM, "balance", "not enough memory");
    for (size_t i = 0; i < ranks; ++i) {
        sorted[i][0] = slots[i];
        sorted[i][1] = (uint32_t)i;
    }
    qsort(sorted, ranks, sizeof *sorted, compare_slots);
    size_t at = 1;
    while (at < ranks && sorted[at][0] != sorted[at - 1][0]) ++at;
    int status = MPI_SUCCESS;
    if (at < ranks)
        status = raise_error(state->own, MPI_ERR_ARG, "balance",
                             "ranks %u and %u share slot %u of %.60s: each rank needs its own",
                             sorted[at - 1][1], sorted[at][1], sorted[at][0], machine);
    free(sorted);
    return status;
}

/// Creates the balancer for these options, unless the last call had equal options. Collective.
static int prepare_balancer(struct comm_state* state, const topoloom_balance_options* options,
                            const char* method) {
    if (state->balancer != NULL && is_same_text(state->method, method) &&
        is_same_text(state->machine, options->machine) && state->slot == options->slot)
        return MPI_SUCCESS;
    uint32_t* slots = NULL;
    int status = options->machine == NULL ? MPI_SUCCESS : gather_slots(state, options, &slots);
    if (status != MPI_SUCCESS) return status;
    topoloom_balancer* created = NULL;
    char error[256] = "";
    const int failed = topoloom_balancer_make(method, options->machine, (size_t)state->ranks, slots, &created,
                                              error, sizeof error);
    if (failed) {
        free(slots);
        return raise_error(state->own, MPI_ERR_ARG, "balance", "%s", error);
    }
    status = slots != NULL ? check_slots(state, slots, options->machine) : MPI_SUCCESS;
    free(slots);
    if (status != MPI_SUCCESS) {
        topoloom_balancer_free(created);
        return status;
    }
    topoloom_balancer_free(state->balancer);
    free(state->method);
    free(state->machine);
    state->balancer = created;
    state->method = copy_text(method);
    state->machine = copy_text(options->machine);
    state->slot = options->slot;
    return MPI_SUCCESS;
}

static int plan_from_gathered_loads(struct comm_state* state, long long count, topoloom_own_plan* own) {
    const int64_t* loads = NULL;
    const int status = gather_loads(state, count, &loads);
    char error[256] = "";
    const int failed =
        status == MPI_SUCCESS && topoloom_balancer_own_plan(state->balancer, (size_t)state->ranks, loads,
                                                            (uint32_t)state->rank, own, error, sizeof error);
    return failed ? raise_error(state->own, MPI_ERR_COUNT, "balance", "%s", error) : status;
}

static int compute_own_plan(struct comm_state* state, long long count,
                            const topoloom_balance_options* options, topoloom_own_plan* own) {
    const char* method = options->method;
    if (method == NULL) method = options->machine != NULL ? "auto" : "sweep";
    const bool is_sweep = strcmp(method, "sweep") == 0;
    if (options->decide == TOPOLOOM_DECIDE_BY_MESSAGES && !is_sweep)
        return raise_error(state->own, MPI_ERR_ARG, "balance",
                           "decide by messages supports only the method sweep, not %.60s", method);
    bool should_gather = options->decide == TOPOLOOM_DECIDE_GATHERED || !is_sweep;
    int status = MPI_SUCCESS;
    if (options->decide == TOPOLOOM_DECIDE_FASTEST && is_sweep)
        status = choose_decision_method(state, options, &should_gather);
    if (status == MPI_SUCCESS && !should_gather) return decide_by_messages(state, count, own);
    if (status == MPI_SUCCESS) status = prepare_balancer(state, options, method);
    return status == MPI_SUCCESS ? plan_from_gathered_loads(state, count, own) : status;
}

static int check_arguments(const struct comm_state* state, const topoloom_balance_options* options,
                           topoloom_plan** plan) {
    const MPI_Comm comm = state->own;
    if (plan == NULL) return raise_error(comm, MPI_ERR_ARG, "balance", "the address of the plan is NULL");
    if (options->decide < TOPOLOOM_DECIDE_FASTEST || options->decide > TOPOLOOM_DECIDE_BY_MESSAGES)
        return raise_error(comm, MPI_ERR_ARG, "balance", "decide is %d, but must be %d to %d",
                           options->decide, TOPOLOOM_DECIDE_FASTEST, TOPOLOOM_DECIDE_BY_MESSAGES);
    if (!(options->stall_timeout >= 0))
        return raise_error(comm, MPI_ERR_ARG, "balance", "stall_timeout is %g s, but must not be negative",
                           options->stall_timeout);
    if (!(options->message_s >= 0 && options->byte_s >= 0))
        return raise_error(comm, MPI_ERR_ARG, "balance",
                           "message_s is %g s and byte_s %g s, but must not be negative", options->message_s,
                           options->byte_s);
    return MPI_SUCCESS;
}

int topoloom_balance(MPI_Comm comm, long long count, const topoloom_balance_options* user_options,
                     topoloom_plan** plan) {
    const topoloom_balance_options options =
        user_options != NULL ? *user_options : (topoloom_balance_options){0};
    struct comm_state* state = NULL;
    topoloom_own_plan own = {0};
    clear_error_message();
    int status = find_or_create_state(comm, &state);
    if (status == MPI_SUCCESS && !state->has_equal_options) status = compare_options(state, &options);
    if (status != MPI_SUCCESS) return status;
    state->has_equal_options = true;
    status = check_arguments(state, &options, plan);
    if (status == MPI_SUCCESS) status = compute_own_plan(state, count, &options, &own);
    if (status != MPI_SUCCESS) return status;
    struct plan* created = NULL;
    status = make_plan(state, &own, count, options.stall_timeout, &created);
    topoloom_own_plan_free(&own);
    if (status != MPI_SUCCESS) return status;
    created->reserve_capacity = options.reserve_capacity != 0;
    *plan = &created->shares;
    return status;
}

const char* topoloom_balance_error(int status) { return get_error_message(status); }
