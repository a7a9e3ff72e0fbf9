// SPDX-License-Identifier: BSD-3-Clause
// Fences: ranks add up what they have seen, and learn from the sums.
#include "learning.h"

#include <stdio.h>

bool choose_schedule(struct state* state, const struct choice* choice, const char** schedule, char* why,
                     size_t why_size) {
    return state->learner == NULL
               ? topoloom_strategy_choose(state->strategy, choice->operation, choice->bytes,
                                          choice->in_rank_order, schedule, why, why_size) == 0
               : topoloom_learner_choose(state->learner, choice->operation, choice->bytes,
                                         choice->in_rank_order, choice->is_timed, schedule, why,
                                         why_size) == 0;
}

// ---- sums over ranks ---------------------------------------------------------------------------------------------

/// How many numbers a fence may sum. What is seen of one schedule is 32 of them, and most fences follow one call.
static const int sum_lengths[sum_count] = {32, 128, TOPOLOOM_MOST_SEEN};

/// By our own all-reduce, so that calls go on that other ranks may wait for meanwhile. NULL with the reason.
static struct run* reserve_sum(struct state* state, int64_t length, char* why, size_t why_size) {
    const topoloom_call call = {.operation = TOPOLOOM_ALL_REDUCE,
                                .ranks = (size_t)state->ranks,
                                .rank = (uint32_t)state->rank,
                                .units = length,
                                .unit_bytes = sizeof(int64_t),
                                .wants_result = 1};
    struct plan_key key = {
        .operation = call.operation, .units = length, .unit_bytes = sizeof(int64_t), .wants_result = true};
    if (topoloom_strategy_choose(state->strategy, call.operation, length * key.unit_bytes, 0, &key.schedule,
                                 why, why_size) != 0)
        return NULL;
    struct plan* plan = find_plan(state, &key, &call, NULL, 0, why, why_size);
    if (plan == NULL) return NULL;
    struct elements elements;
    struct run* run = describe_type(MPI_INT64_T, &elements) == MPI_SUCCESS ? take_run(plan, &elements) : NULL;
    if (run == NULL) snprintf(why, why_size, "not enough memory");
    return run;
}

static int add_up(struct state* state, MPI_Comm comm, int64_t* numbers, int64_t* sums, size_t count) {
    int which = 0;
    while ((size_t)sum_lengths[which] < count) ++which;
    struct call call = {.asked = {.name = "fence", .operation = TOPOLOOM_ALL_REDUCE, .comm = comm},
                        .blocking = true,
                        .state = state,
                        .tag = next_tag(state, false),
                        .ready = true,
                        .run = state->sums[which]};
    struct run* run = call.run;
    run->own = state->own;
    run->comm = comm;
    run->tag = call.tag;
    run->op = MPI_SUM;
    run->base[TOPOLOOM_INPUT] = (char*)numbers;
    run->base[TOPOLOOM_OUTPUT] = (char*)sums;
    return finish_call(&call);
}

bool make_learning(struct state* state, char* why, size_t why_size) {
    if (topoloom_learner_make(state->strategy, &state->learner, why, why_size) != 0) {
        state->learner = NULL;
        return false;
    }
    for (int i = 0; i < sum_count; ++i) {
        state->sums[i] = reserve_sum(state, sum_lengths[i], why, why_size);
        if (state->sums[i] == NULL) return false;
    }
    return true;
}

void free_learning(struct state* state) {
    for (int i = 0; i < sum_count; ++i)
        if (state->sums[i] != NULL) give_back_run(state->sums[i]);
    if (state->learner != NULL) topoloom_learner_free(state->learner);
}

// ---- fences ------------------------------------------------------------------------------------------------------

void stop_learning(struct state* state, int error) { state->failed = error; }

static int fence(struct state* state, MPI_Comm comm) {
    int64_t numbers[TOPOLOOM_MOST_SEEN], sums[TOPOLOOM_MOST_SEEN];
    pthread_mutex_lock(&state->guard);
    const size_t count = topoloom_learner_seen(state->learner, numbers);
    pthread_mutex_unlock(&state->guard);
    if (count == 0) return MPI_SUCCESS;
    const int status = add_up(state, comm, numbers, sums, count);
    // Calls that were started before still take what was the fastest then: on each rank they choose when they are driven.
    drive_active(state->process);
    char why[256];
    pthread_mutex_lock(&state->guard);
    const bool failed =
        status != MPI_SUCCESS || topoloom_learner_learn(state->learner, sums, count, why, sizeof why);
    if (failed) stop_learning(state, status != MPI_SUCCESS ? status : MPI_ERR_OTHER);
    pthread_mutex_unlock(&state->guard);
    if (status != MPI_SUCCESS || !failed) return status;
    return raise_error(comm, MPI_ERR_OTHER, "fence", "%s", why);
}

void before_trying(const struct call* call) {
    if (call->blocking && call->state->learner != NULL) drive_active(call->state->process);
}

int learn_from(const struct call* call) {
    struct state* state = call->state;
    const double seconds = PMPI_Wtime() - call->began;
    pthread_mutex_lock(&state->guard);
    const bool is_due = topoloom_learner_saw(state->learner, seconds) != 0;
    pthread_mutex_unlock(&state->guard);
    return is_due ? fence(state, call->asked.comm) : MPI_SUCCESS;
}

int topoloom_collective_fence(MPI_Comm comm) {
    struct state* state = NULL;
    int status = find_state(comm, &state);
    if (status != MPI_SUCCESS) return status;
    status = finish_setup(state);
    if (status != MPI_SUCCESS) return cannot_set_up(comm, "fence", status);
    return state->learner == NULL ? MPI_SUCCESS : fence(state, comm);
}
