// SPDX-License-Identifier: BSD-3-Clause
#include "learner.h"

#include <stdio.h>

/// How many values each of the fence runs can sum. A schedule has 32 values, and most fences follow one call.
static const int64_t fence_sizes[fence_size_count] = {32, 128, TOPOLOOM_MAX_OBSERVATIONS};

bool choose_schedule(struct comm_state* state, const struct schedule_query* schedule_query,
                     const char** schedule, char* error, size_t error_size) {
    if (state->learner == NULL)
        return topoloom_strategy_choose(state->strategy, schedule_query->operation, schedule_query->bytes,
                                        schedule_query->in_rank_order, schedule, error, error_size) == 0;
    return topoloom_learner_choose(state->learner, schedule_query->operation, schedule_query->bytes,
                                   schedule_query->in_rank_order, schedule_query->is_timed, schedule, error,
                                   error_size) == 0;
}

/// Creates a run of our allreduce; other active calls advance meanwhile. Returns NULL, and writes `error`,
/// on failure.
static struct run* create_fence_run(struct comm_state* state, int64_t size, char* error, size_t error_size) {
    const topoloom_call call = {.operation = TOPOLOOM_ALLREDUCE,
                                .ranks = (size_t)state->ranks,
                                .rank = (uint32_t)state->rank,
                                .units = size,
                                .unit_bytes = sizeof(int64_t),
                                .wants_result = 1};
    struct plan_key key = {
        .operation = call.operation, .units = size, .unit_bytes = sizeof(int64_t), .wants_result = true};
    if (topoloom_strategy_choose(state->strategy, call.operation, size * key.unit_bytes, 0, &key.schedule,
                                 error, error_size) != 0)
        return NULL;
    struct plan* plan = find_or_create_plan(state, &key, &call, NULL, 0, error, error_size);
    if (plan == NULL) return NULL;
    struct type_desc type;
    struct run* run = describe_type(MPI_INT64_T, &type) == MPI_SUCCESS ? acquire_run(plan, &type) : NULL;
    if (run == NULL) snprintf(error, error_size, "not enough memory");
    return run;
}

bool create_learner(struct comm_state* state, char* error, size_t error_size) {
    if (topoloom_learner_make(state->strategy, &state->learner, error, error_size) != 0) {
        state->learner = NULL;
        return false;
    }
    for (int i = 0; i < fence_size_count; ++i) {
        state->fence_runs[i] = create_fence_run(state, fence_sizes[i], error, error_size);
        if (state->fence_runs[i] == NULL) return false;
    }
    return true;
}

void free_learner(struct comm_state* state) {
    for (int i = 0; i < fence_size_count; ++i)
        if (state->fence_runs[i] != NULL) release_run(state->fence_runs[i]);
    if (state->learner != NULL) topoloom_learner_free(state->learner);
}

struct run* get_fence_run(const struct comm_state* state, size_t count) {
    int i = 0;
    while ((size_t)fence_sizes[i] < count) ++i;
    return state->fence_runs[i];
}
