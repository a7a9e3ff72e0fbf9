// SPDX-License-Identifier: BSD-3-Clause
// Fences: ranks add up what they have seen, and learn from the sums.
#include "learning.h"

bool choose_schedule(struct state* state, const struct choice* choice, const char** schedule, char* why,
                     size_t why_size) {
    return state->learner == NULL
               ? topoloom_strategy_choose(state->strategy, choice->operation, choice->bytes,
                                          choice->in_rank_order, schedule, why, why_size) == 0
               : topoloom_learner_choose(state->learner, choice->operation, choice->bytes,
                                         choice->in_rank_order, choice->is_timed, schedule, why,
                                         why_size) == 0;
}

/// By our own all-reduce, so that calls go on that other ranks may wait for meanwhile.
static int add_up(MPI_Comm comm, int64_t* numbers, size_t count) {
    struct call call = {
        .asked = {.name = "fence",
                  .operation = TOPOLOOM_ALL_REDUCE,
                  .comm = comm,
                  .op = MPI_SUM,
                  .input = {.buffer = MPI_IN_PLACE, .count = (int64_t)count, .type = MPI_INT64_T},
                  .output = {.buffer = numbers, .count = (int64_t)count, .type = MPI_INT64_T}}};
    const int status = begin_call(&call);
    return status == MPI_SUCCESS ? finish_blocking(&call) : status;
}

static int fence(struct state* state, MPI_Comm comm) {
    int64_t numbers[TOPOLOOM_MOST_SEEN];
    pthread_mutex_lock(&state->guard);
    const size_t count = topoloom_learner_seen(state->learner, numbers);
    pthread_mutex_unlock(&state->guard);
    if (count == 0) return MPI_SUCCESS;
    const int status = add_up(comm, numbers, count);
    if (status != MPI_SUCCESS) return status;
    // Calls that were started before still take what was the fastest then: on each rank they choose when they are driven.
    drive_active(state->process);
    char why[256];
    pthread_mutex_lock(&state->guard);
    const int failed = topoloom_learner_learn(state->learner, numbers, count, why, sizeof why);
    pthread_mutex_unlock(&state->guard);
    return failed ? raise_error(comm, MPI_ERR_OTHER, "fence", "%s", why) : MPI_SUCCESS;
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
    bool done = false;
    int status = find_state(comm, &state);
    if (status != MPI_SUCCESS) return status;
    status = advance_setup(state, true, &done);
    if (status != MPI_SUCCESS) return cannot_set_up(comm, "fence", status);
    return state->learner == NULL ? MPI_SUCCESS : fence(state, comm);
}
