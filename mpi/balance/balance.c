// SPDX-License-Identifier: BSD-3-Clause
// Decides, and makes the plan of a rank.
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "errors.h"

static bool same_text(const char* left, const char* right) {
    return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

static char* copy_text(const char* text) {
    if (text == NULL) return NULL;
    char* copy = malloc(strlen(text) + 1);
    return copy == NULL ? NULL : strcpy(copy, text);
}

static int gather_slots(const struct state* state, const topoloom_balance_options* options,
                        uint32_t** slots) {
    int* all = malloc((size_t)state->ranks * sizeof *all);
    if (all == NULL) return raise_error(state->own, MPI_ERR_NO_MEM, "balance", "there is no memory");
    const int status = PMPI_Allgather(&options->slot, 1, MPI_INT, all, 1, MPI_INT, state->own);
    if (status != MPI_SUCCESS) {
        free(all);
        return status;
    }
    for (int rank = 0; rank < state->ranks; ++rank) {
        if (all[rank] >= 0) continue;
        const int slot = all[rank];
        free(all);
        return raise_error(state->own, MPI_ERR_ARG, "balance", "rank %d is on slot %d, below 0", rank, slot);
    }
    _Static_assert(sizeof(int) == sizeof(uint32_t), "none of them is negative");
    *slots = (uint32_t*)all;
    return status;
}

static int by_slot(const void* left, const void* right) {
    const uint32_t *a = left, *b = right;
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return a[1] < b[1] ? -1 : 1;
}

/// Names two ranks of one slot, which all ranks find alike.
static int refuse_shared_slots(const struct state* state, const uint32_t* slots, const char* machine) {
    const size_t ranks = (size_t)state->ranks;
    uint32_t (*sorted)[2] = malloc(ranks * sizeof *sorted);
    if (sorted == NULL) return raise_error(state->own, MPI_ERR_NO_MEM, "balance", "there is no memory");
    for (size_t i = 0; i < ranks; ++i) {
        sorted[i][0] = slots[i];
        sorted[i][1] = (uint32_t)i;
    }
    qsort(sorted, ranks, sizeof *sorted, by_slot);
    size_t at = 1;
    while (at < ranks && sorted[at][0] != sorted[at - 1][0]) ++at;
    int status = MPI_SUCCESS;
    if (at < ranks)
        status = raise_error(state->own, MPI_ERR_ARG, "balance",
                             "ranks %u and %u are both on slot %u of %.60s; each has one of its own",
                             sorted[at - 1][1], sorted[at][1], sorted[at][0], machine);
    free(sorted);
    return status;
}

int find_balancer(struct state* state, const topoloom_balance_options* options, const char* method) {
    if (state->balancer != NULL && same_text(state->method, method) &&
        same_text(state->machine, options->machine) && state->slot == options->slot)
        return MPI_SUCCESS;
    uint32_t* slots = NULL;
    int status = options->machine == NULL ? MPI_SUCCESS : gather_slots(state, options, &slots);
    if (status != MPI_SUCCESS) return status;
    topoloom_balancer* made = NULL;
    char error[256] = "";
    const int failed = topoloom_balancer_make(method, options->machine, (size_t)state->ranks, slots, &made,
                                              error, sizeof error);
    if (failed) {
        free(slots);
        return raise_error(state->own, MPI_ERR_ARG, "balance", "%s", error);
    }
    status = slots != NULL ? refuse_shared_slots(state, slots, options->machine) : MPI_SUCCESS;
    free(slots);
    if (status != MPI_SUCCESS) {
        topoloom_balancer_free(made);
        return status;
    }
    topoloom_balancer_free(state->balancer);
    free(state->method);
    free(state->machine);
    state->balancer = made;
    state->method = copy_text(method);
    state->machine = copy_text(options->machine);
    state->slot = options->slot;
    return MPI_SUCCESS;
}

static int decide_gathered(struct state* state, long long count, topoloom_own_plan* own) {
    const int64_t* loads = NULL;
    const int status = gather_loads(state, count, &loads);
    char error[256] = "";
    const int failed =
        status == MPI_SUCCESS && topoloom_balancer_own_plan(state->balancer, (size_t)state->ranks, loads,
                                                            (uint32_t)state->rank, own, error, sizeof error);
    return failed ? raise_error(state->own, MPI_ERR_COUNT, "balance", "%s", error) : status;
}

static int decide(struct state* state, long long count, const topoloom_balance_options* options,
                  topoloom_own_plan* own) {
    const char* method = options->method;
    if (method == NULL) method = options->machine != NULL ? "auto" : "sweep";
    const bool can_talk = strcmp(method, "sweep") == 0;
    if (options->decide == TOPOLOOM_DECIDE_BY_MESSAGES && !can_talk)
        return raise_error(state->own, MPI_ERR_ARG, "balance",
                           "by messages ranks can decide on sweep alone, not on %.60s", method);
    bool gathers = options->decide == TOPOLOOM_DECIDE_GATHERED || !can_talk;
    int status = MPI_SUCCESS;
    if (options->decide == TOPOLOOM_DECIDE_FASTEST && can_talk)
        status = compare_ways(state, options, &gathers);
    if (status == MPI_SUCCESS && !gathers) return decide_by_messages(state, count, own);
    if (status == MPI_SUCCESS) status = find_balancer(state, options, method);
    return status == MPI_SUCCESS ? decide_gathered(state, count, own) : status;
}

int topoloom_balance(MPI_Comm comm, long long count, const topoloom_balance_options* given,
                     topoloom_plan** plan) {
    const topoloom_balance_options options = given != NULL ? *given : (topoloom_balance_options){0};
    struct state* state = NULL;
    topoloom_own_plan own = {0};
    clear_error_message();
    int status = find_state(comm, &state);
    if (status == MPI_SUCCESS && !state->is_compared) status = compare_options(state, &options);
    if (status != MPI_SUCCESS) return status;
    state->is_compared = true;
    if (plan == NULL)
        return raise_error(state->own, MPI_ERR_ARG, "balance", "there is no place for the plan: it is NULL");
    if (options.decide < TOPOLOOM_DECIDE_FASTEST || options.decide > TOPOLOOM_DECIDE_BY_MESSAGES)
        return raise_error(state->own, MPI_ERR_ARG, "balance", "%d is none of the ways to decide",
                           options.decide);
    if (!(options.patience >= 0))
        return raise_error(state->own, MPI_ERR_ARG, "balance", "a patience of %g s is less than none",
                           options.patience);
    if (!(options.message_s >= 0 && options.byte_s >= 0))
        return raise_error(state->own, MPI_ERR_ARG, "balance",
                           "a message of %g s, or a byte of %g s, takes less than none", options.message_s,
                           options.byte_s);
    status = decide(state, count, &options, &own);
    if (status != MPI_SUCCESS) return status;
    status = make_plan(state, &own, count, options.patience, plan);
    topoloom_own_plan_free(&own);
    if (status == MPI_SUCCESS) ((struct plan*)*plan)->makes_room = options.makes_room != 0;
    return status;
}

const char* topoloom_balance_error(int status) { return get_error_message(status); }
