// SPDX-License-Identifier: BSD-3-Clause
// Executes a collective call: creates a plan from its arguments, and runs the plan.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abort_message.h"
#include "collective.h"
#include "learner.h"

// ---- errors ------------------------------------------------------------------------------------------------------

/// The error of a pending call is raised when the program completes the request: error handlers must run in the
/// program's threads, and the communicator may have been freed.
static int record_error(struct call* call, int status, const char* reason) {
    if (status == MPI_SUCCESS) return status;
    int length = 0;
    char text[MPI_MAX_ERROR_STRING];
    if (status == MPI_ERR_NO_MEM && reason == NULL) reason = "not enough memory";
    if (reason == NULL && PMPI_Error_string(status, text, &length) == MPI_SUCCESS) reason = text;
    call->error = status;
    snprintf(call->error_text, sizeof call->error_text, "%s", reason == NULL ? "failed" : reason);
    if (!call->is_pending) raise_call_error(call);
    return status;
}

void raise_call_error(const struct call* call) {
    int error_class = call->error;
    PMPI_Error_class(call->error, &error_class);
    raise_error(call->arguments.comm, error_class, call->arguments.name, "%s", call->error_text);
}

void abort_with_call_error(const struct call* call) {
    print_before_abort("topoloom: topoloom_%s: %s\n", call->arguments.name, call->error_text);
    PMPI_Abort(MPI_COMM_WORLD, call->error);
}

// ---- arguments ---------------------------------------------------------------------------------------------------

/// Replaces MPI_IN_PLACE: marks the call as in-place and, if the input will be copied, makes it a separate
/// input buffer.
static void resolve_in_place(struct call* call) {
    struct arguments* arguments = &call->arguments;
    struct buffer_desc *input = &arguments->input, *output = &arguments->output;
    const bool has_in = has_input(arguments, call->state->rank);
    const bool has_out = has_output(arguments, call->state->rank);
    call->combines = arguments->op != MPI_OP_NULL;
    // MPI forbids equal input and output buffers in reductions, but some libraries accept them.
    if (call->combines && has_out && input->buffer == output->buffer) input->buffer = MPI_IN_PLACE;
    call->in_place = arguments->operation == TOPOLOOM_SCATTER ? has_out && output->buffer == MPI_IN_PLACE
                                                              : has_in && input->buffer == MPI_IN_PLACE;
    if (call->in_place && must_copy_in_place(arguments->operation)) {
        if (arguments->operation == TOPOLOOM_ALLTOALL) *input = *output;
        input->buffer = output->buffer;
    }
    call->reads_input = has_in && input->buffer != MPI_IN_PLACE;
    call->writes_output = has_out && output->buffer != MPI_IN_PLACE;
}

static int describe_types(struct call* call) {
    int status = MPI_SUCCESS;
    if (call->reads_input) status = describe_type(call->arguments.input.type, &call->input_type);
    if (status == MPI_SUCCESS && call->writes_output)
        status = describe_type(call->arguments.output.type, &call->output_type);
    return record_error(call, status, NULL);
}

/// Lets MPI check that datatypes are committed and that the operator is defined for them.
static int check_types(struct call* call) {
    const struct arguments* arguments = &call->arguments;
    struct comm_state* state = call->state;
    int status = MPI_SUCCESS;
    if (call->combines) {
        const MPI_Datatype type = call->reads_input ? arguments->input.type : arguments->output.type;
        if (type == state->checked_type && arguments->op == state->checked_op) return MPI_SUCCESS;
        status = check_type_and_op(state->process, type, arguments->op);
        if (status == MPI_SUCCESS) {
            state->checked_type = type;
            state->checked_op = arguments->op;
        }
        return record_error(call, status, NULL);
    }
    if (call->reads_input && !call->input_type.is_contiguous)
        status = check_type_and_op(state->process, arguments->input.type, MPI_OP_NULL);
    if (status == MPI_SUCCESS && call->writes_output && !call->output_type.is_contiguous)
        status = check_type_and_op(state->process, arguments->output.type, MPI_OP_NULL);
    return record_error(call, status, NULL);
}

static int64_t get_block_bytes(const struct buffer_desc* desc, const struct type_desc* type, int rank) {
    return (desc->counts != NULL ? desc->counts[rank] : desc->count) * type->size;
}

/// Checks that a rank sends as many bytes to itself as it receives from itself.
static int check_own_block(struct call* call) {
    const struct arguments* arguments = &call->arguments;
    if (call->combines || !call->reads_input || !call->writes_output) return MPI_SUCCESS;
    const int rank = call->state->rank;
    const int64_t sent = get_block_bytes(&arguments->input, &call->input_type, rank);
    const int64_t received = get_block_bytes(&arguments->output, &call->output_type, rank);
    if (sent == received) return MPI_SUCCESS;
    char reason[160];
    snprintf(reason, sizeof reason, "rank %d sends %lld bytes to itself but receives %lld", rank,
             (long long)sent, (long long)received);
    return record_error(call, MPI_ERR_TRUNCATE, reason);
}

// ---- begin -------------------------------------------------------------------------------------------------------

static void set_run_arguments(const struct call* call) {
    const struct comm_state* state = call->state;
    struct run* run = call->run;
    char* input = (char*)call->arguments.input.buffer;
    char* output = (char*)call->arguments.output.buffer;
    if (call->input_copy != NULL) input = call->input_copy - (call->combines ? call->input_type.true_lb : 0);
    if (call->output_copy != NULL) output = call->output_copy;
    run->duplicate = state->duplicate;
    run->error_comm = call->is_blocking ? call->arguments.comm : MPI_COMM_NULL;
    run->members = state->members;
    run->tag = call->tag;
    run->op = call->arguments.op;
    run->trace =
        call->is_blocking && state->trace != NULL && is_call_traced(state->trace) ? state->trace : NULL;
    run->base[TOPOLOOM_INPUT] = call->reads_input ? input : NULL;
    run->base[TOPOLOOM_OUTPUT] = call->writes_output ? output : NULL;
}

int begin_call(struct call* call) {
    struct arguments* arguments = &call->arguments;
    call->advance = advance_call;
    call->state = arguments->line;
    int status = arguments->line == NULL ? attach_state(arguments->comm, &call->state) : MPI_SUCCESS;
    if (status != MPI_SUCCESS) return status;
    struct comm_state* state = call->state;
    __atomic_add_fetch(&state->references, 1, __ATOMIC_RELAXED);
    call->run = acquire_repeated_run(call);
    if (call->run != NULL) {
        call->tag = allocate_tag(state, false);
        set_run_arguments(call);
        call->is_prepared = true;
        return MPI_SUCCESS;
    }
    status = check_arguments(arguments, state->rank, state->ranks);
    if (status == MPI_SUCCESS) {
        resolve_in_place(call);
        status = describe_types(call);
    }
    if (status == MPI_SUCCESS) status = check_types(call);
    if (status == MPI_SUCCESS) status = check_own_block(call);
    if (status == MPI_SUCCESS && arguments->line == NULL)
        status = record_error(call, begin_setup(arguments->comm, state), NULL);
    if (status == MPI_SUCCESS)
        call->tag = allocate_tag(state, call->is_persistent);  // last, because a failed call may be retried
    else
        end_call(call);
    return status;
}

/// Duplicates a datatype. Only duplicates for the program's operator, which may need them, have the
/// attributes: deleting attributes would call the program in the thread that frees the duplicate.
static int duplicate_type(MPI_Datatype* type, bool with_attributes, bool* is_owned) {
    int status = MPI_SUCCESS;
    if (is_predefined_type(*type, &status) || status != MPI_SUCCESS) return status;
    MPI_Datatype duplicate = MPI_DATATYPE_NULL;
#ifdef SMPI_H  // where a contiguous type of a resized type has another extent
    with_attributes = true;
#endif
    status = with_attributes ? PMPI_Type_dup(*type, &duplicate) : PMPI_Type_contiguous(1, *type, &duplicate);
    if (status == MPI_SUCCESS && !with_attributes) status = PMPI_Type_commit(&duplicate);
    *is_owned = duplicate != MPI_DATATYPE_NULL;
    if (*is_owned) *type = duplicate;
    return status;
}

int duplicate_types(struct call* call) {
    struct arguments* arguments = &call->arguments;
    int status = MPI_SUCCESS;
    if (call->reads_input)
        status = duplicate_type(&arguments->input.type, call->combines, &call->owns_input_type);
    if (status == MPI_SUCCESS && call->writes_output)
        status = duplicate_type(&arguments->output.type, call->combines, &call->owns_output_type);
    call->input_type.type = arguments->input.type;
    call->output_type.type = arguments->output.type;
    return record_error(call, status, NULL);
}

// ---- the plan ----------------------------------------------------------------------------------------------------

/// The criteria by which a plan is found.
struct plan_query {
    topoloom_call call;
    const char* schedule;                      // NULL: not yet chosen
    int64_t bytes;                             // message size by which the schedule is chosen
    const struct buffer_desc *input, *output;  // buffers with blocks of different sizes; otherwise NULL
};

/// Size of a call, in elements for a reduction and otherwise in bytes: that of the vector, of one rank's
/// block, or of one pair's block. If blocks differ, their mean.
static int64_t count_units(const struct call* call) {
    const struct arguments* arguments = &call->arguments;
    const int ranks = call->state->ranks;
    if (arguments->operation == TOPOLOOM_BARRIER) return 0;
    if (arguments->operation == TOPOLOOM_REDUCE_SCATTER)
        return arguments->input.counts == NULL ? arguments->input.count
                                               : get_total_count(&arguments->input, ranks) / ranks;
    // Ranks with different datatypes may have different counts, but the size in bytes is the same.
    if (arguments->operation == TOPOLOOM_ALLGATHER && arguments->output.counts != NULL)
        return get_total_count(&arguments->output, ranks) * call->output_type.size / ranks;
    const int64_t count = call->reads_input ? arguments->input.count : arguments->output.count;
    return call->combines ? count
                          : count * (call->reads_input ? call->input_type.size : call->output_type.size);
}

static int build_plan_query(const struct call* call, struct plan_query* query) {
    const struct arguments* arguments = &call->arguments;
    const struct comm_state* state = call->state;
    *query =
        (struct plan_query){.call = {.operation = arguments->operation,
                                     .ranks = (size_t)state->ranks,
                                     .rank = (uint32_t)state->rank,
                                     .root = (uint32_t)arguments->root,
                                     .units = count_units(call),
                                     .unit_bytes = 1,
                                     .in_place = call->in_place && !must_copy_in_place(arguments->operation),
                                     .wants_result = 1}};
    topoloom_call* core = &query->call;
    if (call->combines) {
        int commutes = 0;
        const int status = PMPI_Op_commutative(arguments->op, &commutes);
        if (status != MPI_SUCCESS) return status;
        const MPI_Aint size = call->reads_input ? call->input_type.size : call->output_type.size;
        core->in_rank_order = !commutes;
        core->unit_bytes = size > 0 ? (uint64_t)size : 1;
        if (!commutes && arguments->operation == TOPOLOOM_REDUCE && arguments->root != 0) {
            // Trees combine in rank order only if the root is rank 0.
            core->operation = TOPOLOOM_ALLREDUCE;
            core->root = 0;
            core->wants_result = state->rank == arguments->root;
            query->schedule = "recursive-doubling(fold=even)";
        }
    }
    query->bytes = core->units * (int64_t)core->unit_bytes;
    if (!arguments->is_vector) return MPI_SUCCESS;
    // Only schedules of direct messages need no information about other ranks' blocks.
    if (arguments->operation == TOPOLOOM_ALLTOALL) query->schedule = "at-once";
    if (arguments->operation == TOPOLOOM_GATHER || arguments->operation == TOPOLOOM_SCATTER)
        query->schedule = "linear";
    if (query->schedule != NULL) core->units = 0;
    if (call->reads_input) query->input = &arguments->input;
    if (call->writes_output && arguments->operation != TOPOLOOM_REDUCE_SCATTER)
        query->output = &arguments->output;
    return MPI_SUCCESS;
}

/// Writes the sizes, then the offsets of a buffer's blocks. Returns the number of values.
static size_t list_blocks(const struct call* call, const struct buffer_desc* desc,
                          const struct type_desc* type, bool is_copy, int64_t* values,
                          const int64_t** core_units, const int64_t** core_offsets) {
    const int count = desc->has_block_per_rank ? call->state->ranks : 1;
    locate_blocks(desc, call->combines ? 1 : type->size, count, is_copy, values, values + count);
    *core_units = values;
    *core_offsets = values + count;
    return 2 * (size_t)count;
}

static int find_call_plan(const struct call* call, struct plan_query* query, char* error, size_t error_size,
                          struct plan** plan) {
    topoloom_call* core = &query->call;
    int64_t* blocks = NULL;
    size_t length = 0;
    if (query->input != NULL || query->output != NULL) {
        blocks = malloc(4 * (size_t)call->state->ranks * sizeof *blocks);
        if (blocks == NULL) return MPI_ERR_NO_MEM;
        if (query->input != NULL)
            length += list_blocks(call, query->input, &call->input_type, call->input_copy != NULL, blocks,
                                  &core->input_units, &core->input_offsets);
        if (query->output != NULL)
            length += list_blocks(call, query->output, &call->output_type, call->output_copy != NULL,
                                  blocks + length, &core->output_units, &core->output_offsets);
    }
    const struct plan_key key = {.operation = core->operation,
                                 .root = (int)core->root,
                                 .units = core->units,
                                 .unit_bytes = (int64_t)core->unit_bytes,
                                 .schedule = query->schedule,
                                 .in_place = core->in_place != 0,
                                 .in_rank_order = core->in_rank_order != 0,
                                 .wants_result = core->wants_result != 0};
    *plan = find_or_create_plan(call->state, &key, core, blocks, length, error, error_size);
    free(blocks);
    return *plan == NULL ? MPI_ERR_OTHER : MPI_SUCCESS;
}

// ---- copies of buffers -------------------------------------------------------------------------------------------

/// Allocates copies. A copy of a reduction's input has the layout of the original; other copies are contiguous.
static int allocate_copies(struct call* call) {
    const struct arguments* arguments = &call->arguments;
    const int ranks = call->state->ranks;
    const bool is_overwritten = call->in_place && must_copy_in_place(arguments->operation);
    int64_t input_bytes = 0, output_bytes = 0;
    if (call->reads_input && (is_overwritten || !(call->combines || call->input_type.is_contiguous))) {
        const struct type_desc* type = &call->input_type;
        const int64_t count = get_total_count(&arguments->input, ranks);
        if (!call->combines)
            input_bytes = count * type->size;
        else if (count > 0)
            input_bytes = (count - 1) * type->extent + type->true_extent;
    }
    if (call->writes_output && !call->combines && !call->output_type.is_contiguous)
        output_bytes = get_total_count(&arguments->output, ranks) * call->output_type.size;
    if (input_bytes + output_bytes == 0) return MPI_SUCCESS;
    call->copies = malloc((size_t)(input_bytes + output_bytes));
    if (call->copies == NULL) return MPI_ERR_NO_MEM;
    if (input_bytes > 0) call->input_copy = call->copies;
    if (output_bytes > 0) call->output_copy = call->copies + input_bytes;
    return MPI_SUCCESS;
}

static int fill_copies(struct call* call) {
    const struct arguments* arguments = &call->arguments;
    const int rank = call->state->rank, ranks = call->state->ranks;
    int status = MPI_SUCCESS;
    if (call->input_copy != NULL) {
        status = call->combines
                     ? copy_elements(&call->input_type, arguments->input.buffer,
                                     call->input_copy - call->input_type.true_lb,
                                     get_total_count(&arguments->input, ranks))
                     : pack_buffer(&arguments->input, &call->input_type, ranks, -1, call->input_copy);
    }
    const bool sends_output = arguments->operation == TOPOLOOM_BCAST
                                  ? rank == arguments->root
                                  : call->in_place && !must_copy_in_place(arguments->operation);
    if (status == MPI_SUCCESS && call->output_copy != NULL && sends_output)
        status = pack_buffer(&arguments->output, &call->output_type, ranks, rank, call->output_copy);
    return status;
}

// ---- the run -----------------------------------------------------------------------------------------------------

/// Chooses the schedule if the query has none, and acquires a run of the plan. Caller holds the state's mutex.
static int acquire_call_run(struct call* call, struct plan_query* query, char* error, size_t error_size) {
    const struct schedule_query schedule_query = {.operation = query->call.operation,
                                                  .bytes = query->bytes,
                                                  .in_rank_order = query->call.in_rank_order,
                                                  .is_timed = call->is_blocking};
    if (query->schedule == NULL &&
        !choose_schedule(call->state, &schedule_query, &query->schedule, error, error_size))
        return MPI_ERR_OTHER;
    struct plan* plan = NULL;
    const int status = find_call_plan(call, query, error, error_size, &plan);
    if (status != MPI_SUCCESS) return status;
    struct type_desc type;
    describe_type(MPI_BYTE, &type);
    if (call->combines) type = call->reads_input ? call->input_type : call->output_type;
    call->run = acquire_run(plan, &type);
    return call->run == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

static int create_call_run(struct call* call, char* error, size_t error_size) {
    struct comm_state* state = call->state;
    struct plan_query query;
    int status = build_plan_query(call, &query);
    if (status != MPI_SUCCESS) return status;
    const bool is_empty = query.bytes == 0 && !call->arguments.is_vector;
    if (is_empty && call->arguments.operation != TOPOLOOM_BARRIER) return MPI_SUCCESS;
    status = allocate_copies(call);
    if (status != MPI_SUCCESS) return status;
    const bool is_schedule_chosen = query.schedule == NULL;
    pthread_mutex_lock(&state->guard);
    status = acquire_call_run(call, &query, error, error_size);
    pthread_mutex_unlock(&state->guard);
    if (status != MPI_SUCCESS) return status;
    set_run_arguments(call);
    cache_repeated_call(call);
    // Start the timer after creating the plan, because only the first call with a schedule creates one.
    call->is_timed = is_schedule_chosen && call->is_blocking && state->learner != NULL;
    if (call->is_timed) call->begin = PMPI_Wtime();
    return call->is_persistent ? create_persistent_requests(call->run) : MPI_SUCCESS;
}

int prepare_call(struct call* call, bool wait, bool* done) {
    struct comm_state* state = call->state;
    int status = advance_setup(state, wait, done);
    if (status != MPI_SUCCESS) return record_error(call, status, NULL);
    if (!*done) return MPI_SUCCESS;
    const bool may_be_timed = call->is_blocking && state->learner != NULL;
    // A timed call may try another schedule, which changes later choices. Therefore, on all ranks, the active
    // calls choose their schedules first.
    if (may_be_timed) drive_active_calls(state->process);
    char error[512];
    error[0] = '\0';
    status = create_call_run(call, error, sizeof error);
    call->is_prepared = status == MPI_SUCCESS;
    // Without this measurement, this rank could choose another schedule than other ranks, so all its later calls fail.
    // Errors other than exhausted memory occur on all ranks.
    if (!call->is_prepared && may_be_timed) state->error = MPI_ERR_NO_MEM;
    return record_error(call, status, error[0] == '\0' ? NULL : error);
}

int advance_call(struct call* call, enum advance_mode mode, bool* done) {
    *done = true;
    if (call->error != MPI_SUCCESS) return call->error;
    int status = call->is_prepared ? MPI_SUCCESS : prepare_call(call, mode == waiting, done);
    if (status != MPI_SUCCESS || !*done || call->run == NULL) return status;
    if (!call->is_running) {
        if (call->copies != NULL) status = fill_copies(call);
        if (status != MPI_SUCCESS) return record_error(call, status, NULL);
        if (call->run->trace != NULL) begin_trace(call->run->trace);
        call->is_running = true;
    }
    status = advance_run(call->run, mode, done);
    if (status != MPI_SUCCESS) return record_error(call, status, NULL);
    if (!*done) return MPI_SUCCESS;
    call->is_running = false;
    const struct arguments* arguments = &call->arguments;
    const bool is_source = arguments->operation == TOPOLOOM_BCAST && call->state->rank == arguments->root;
    if (call->output_copy == NULL || is_source) return MPI_SUCCESS;
    status = unpack_buffer(&arguments->output, &call->output_type, call->state->ranks, call->output_copy);
    return record_error(call, status, NULL);
}

void end_call(struct call* call) {
    if (call->run != NULL) {
        pthread_mutex_lock(&call->state->guard);
        release_run(call->run);
        pthread_mutex_unlock(&call->state->guard);
    }
    free(call->copies);
    if (call->owns_input_type) PMPI_Type_free(&call->arguments.input.type);
    if (call->owns_output_type) PMPI_Type_free(&call->arguments.output.type);
    release_state(call->state);
}
