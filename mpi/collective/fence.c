// SPDX-License-Identifier: BSD-3-Clause
#include "fence.h"

#include "learner.h"

static int sum_over_ranks(struct comm_state* state, MPI_Comm comm, int64_t* values, int64_t* sums,
                          size_t count) {
    struct run* run = get_fence_run(state, count);
    struct call call = {
        .arguments = {.name = "fence", .operation = TOPOLOOM_ALLREDUCE, .comm = comm, .op = MPI_SUM},
        .is_blocking = true,
        .advance = advance_call,
        .state = state,
        .tag = allocate_tag(state, false),
        .is_prepared = true,
        .run = run};
    run->duplicate = state->duplicate;
    run->error_comm = comm;
    run->tag = call.tag;
    run->op = MPI_SUM;
    run->base[TOPOLOOM_INPUT] = (char*)values;
    run->base[TOPOLOOM_OUTPUT] = (char*)sums;
    return finish_call(&call);
}

static int run_fence(struct comm_state* state, MPI_Comm comm) {
    int64_t values[TOPOLOOM_MAX_OBSERVATIONS], sums[TOPOLOOM_MAX_OBSERVATIONS];
    pthread_mutex_lock(&state->guard);
    const size_t count = topoloom_learner_observations(state->learner, values);
    pthread_mutex_unlock(&state->guard);
    if (count == 0) return MPI_SUCCESS;
    const int status = sum_over_ranks(state, comm, values, sums, count);
    // Active calls choose their schedules when they first advance. On every rank, they must have done so
    // before it learns.
    drive_active_calls(state->process);
    char error[256];
    pthread_mutex_lock(&state->guard);
    const bool has_learned = status == MPI_SUCCESS &&
                             topoloom_learner_learn(state->learner, sums, count, error, sizeof error) == 0;
    // Without these times, this rank could choose another schedule than other ranks, so all its later calls fail.
    if (!has_learned) state->error = status != MPI_SUCCESS ? status : MPI_ERR_OTHER;
    pthread_mutex_unlock(&state->guard);
    if (status != MPI_SUCCESS || has_learned) return status;
    return raise_error(comm, MPI_ERR_OTHER, "fence", "%s", error);
}

int record_time(const struct call* call) {
    struct comm_state* state = call->state;
    const double seconds = PMPI_Wtime() - call->begin;
    pthread_mutex_lock(&state->guard);
    const bool is_fence_due = topoloom_learner_record_time(state->learner, seconds) != 0;
    pthread_mutex_unlock(&state->guard);
    return is_fence_due ? run_fence(state, call->arguments.comm) : MPI_SUCCESS;
}

int topoloom_collective_fence(MPI_Comm comm) {
    struct comm_state* state = NULL;
    int status = open_state(comm, &state);
    if (status != MPI_SUCCESS) return status;
    status = finish_setup(state);
    if (status != MPI_SUCCESS) return raise_setup_error(comm, "fence", status);
    return state->learner == NULL ? MPI_SUCCESS : run_fence(state, comm);
}
