// SPDX-License-Identifier: BSD-3-Clause
// If a blocking call equals the last call of its operation except for buffer addresses, it reuses the plan. This skips
// checks, the choice of a schedule, and the search for a plan.
#include "collective.h"

/// Excludes derived datatypes, because MPI may reuse the handle of a freed datatype.
static bool is_repeatable(const struct call* call) {
    const struct arguments* arguments = &call->arguments;
    const struct comm_state* state = call->state;
    if (!call->is_blocking || call->copies != NULL || arguments->is_vector) return false;
    if (state->learner != NULL || state->trace != NULL) return false;
    int status = MPI_SUCCESS;
    return (!call->reads_input || is_predefined_type(arguments->input.type, &status)) &&
           (!call->writes_output || is_predefined_type(arguments->output.type, &status)) &&
           status == MPI_SUCCESS;
}

void cache_repeated_call(const struct call* call) {
    if (!is_repeatable(call)) return;
    struct comm_state* state = call->state;
    struct repeated_call* last = &state->last_calls[call->arguments.operation];
    struct plan* plan = call->run->plan;
    pthread_mutex_lock(&state->guard);
    if (last->plan != NULL) release_plan(last->plan);
    ++plan->references;
    *last = (struct repeated_call){.plan = plan,
                                   .arguments = call->arguments,
                                   .type = call->run->type,
                                   .combines = call->combines,
                                   .reads_input = call->reads_input,
                                   .writes_output = call->writes_output};
    if (call->combines) PMPI_Op_commutative(call->arguments.op, &last->commutes);
    pthread_mutex_unlock(&state->guard);
}

/// Whether both pointers are NULL, both MPI_IN_PLACE, or both other addresses.
static bool has_same_address_kind(const void* a, const void* b) {
    return (a == NULL) == (b == NULL) && (a == MPI_IN_PLACE) == (b == MPI_IN_PLACE);
}

static bool has_same_layout(const struct buffer_desc* a, const struct buffer_desc* b) {
    return a->count == b->count && a->type == b->type && has_same_address_kind(a->buffer, b->buffer);
}

static bool is_repeated(const struct repeated_call* last, const struct arguments* arguments) {
    const struct arguments* before = &last->arguments;
    if (last->plan == NULL || arguments->is_vector || arguments->root != before->root ||
        arguments->op != before->op || !has_same_layout(&arguments->input, &before->input) ||
        !has_same_layout(&arguments->output, &before->output))
        return false;
    if (!last->combines) return true;
    int commutes = 0;  // MPI may reuse the handle of a freed operator
    return arguments->input.buffer != arguments->output.buffer &&
           PMPI_Op_commutative(arguments->op, &commutes) == MPI_SUCCESS && commutes == last->commutes;
}

struct run* acquire_repeated_run(struct call* call) {
    struct comm_state* state = call->state;
    const struct repeated_call* last = &state->last_calls[call->arguments.operation];
    if (!call->is_blocking || state->error != MPI_SUCCESS || !is_repeated(last, &call->arguments))
        return NULL;
    call->combines = last->combines;
    call->reads_input = last->reads_input;
    call->writes_output = last->writes_output;
    pthread_mutex_lock(&state->guard);
    last->plan->last_used = ++state->plan_uses;
    struct run* run = acquire_run(last->plan, &last->type);
    pthread_mutex_unlock(&state->guard);
    return run;
}
