// SPDX-License-Identifier: BSD-3-Clause
// From the arguments of a call to a run: which schedule, where data are, and copies of what lies in gaps.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abort_message.h"
#include "collective.h"
#include "learning.h"

static bool combines(const struct call* call) { return call->asked.op != MPI_OP_NULL; }

/// An error of a call that is under way waits until somebody waits for the call: handlers of the program are for its threads,
/// and it may have freed the communicator.
static int fail(struct call* call, int status, const char* why) {
    if (status == MPI_SUCCESS) return status;
    int length = 0;
    char text[MPI_MAX_ERROR_STRING];
    if (status == MPI_ERR_NO_MEM && why == NULL) why = "not enough memory";
    if (why == NULL && PMPI_Error_string(status, text, &length) == MPI_SUCCESS) why = text;
    call->failed = status;
    snprintf(call->why, sizeof call->why, "%s", why == NULL ? "failed" : why);
    if (!call->under_way) raise_failed(call);
    return status;
}

void raise_failed(const struct call* call) {
    int error_class = call->failed;
    PMPI_Error_class(call->failed, &error_class);
    raise_error(call->asked.comm, error_class, call->asked.name, "%s", call->why);
}

void end_program(const struct call* call) {
    print_before_abort("topoloom: topoloom_%s: %s\n", call->asked.name, call->why);
    PMPI_Abort(MPI_COMM_WORLD, call->failed);
}

// ---- arguments ---------------------------------------------------------------------------------------------------

/// From now on an input that lies in the output's memory is an input like any other, of which there is a copy.
static void resolve_in_place(struct call* call) {
    struct asked* asked = &call->asked;
    if (asked->operation == TOPOLOOM_SCATTER) {
        call->in_place = has_output(asked, call->state->rank) && asked->output.buffer == MPI_IN_PLACE;
        return;
    }
    // MPI forbids to combine into the input by another name, but some libraries let it pass.
    if (combines(call) && has_output(asked, call->state->rank) && asked->input.buffer == asked->output.buffer)
        asked->input.buffer = MPI_IN_PLACE;
    call->in_place = has_input(asked, call->state->rank) && asked->input.buffer == MPI_IN_PLACE;
    if (!call->in_place || !needs_input(asked->operation)) return;
    if (asked->operation == TOPOLOOM_ALL_TO_ALL) asked->input = asked->output;
    asked->input.buffer = asked->output.buffer;
}

static bool gives_input(const struct call* call) {
    return has_input(&call->asked, call->state->rank) && call->asked.input.buffer != MPI_IN_PLACE;
}

static bool gets_output(const struct call* call) {
    return has_output(&call->asked, call->state->rank) && call->asked.output.buffer != MPI_IN_PLACE;
}

static int64_t block_bytes(const struct side* side, const struct elements* elements, int rank) {
    return (side->counts != NULL ? side->counts[rank] : side->count) * elements->size;
}

/// What a rank sends to itself, it also receives.
static int check_own(struct call* call) {
    const struct asked* asked = &call->asked;
    if (combines(call) || !gives_input(call) || !gets_output(call)) return MPI_SUCCESS;
    const int64_t sent = block_bytes(&asked->input, &call->input, call->state->rank);
    const int64_t received = block_bytes(&asked->output, &call->output, call->state->rank);
    if (sent == received) return MPI_SUCCESS;
    char why[160];
    snprintf(why, sizeof why, "rank %d sends itself %lld bytes, but receives %lld", call->state->rank,
             (long long)sent, (long long)received);
    return fail(call, MPI_ERR_TRUNCATE, why);
}

/// What this library cannot know: whether types are committed, and operators defined for them.
static int check_types(struct call* call) {
    const struct asked* asked = &call->asked;
    struct state* state = call->state;
    const bool gives = gives_input(call), gets = gets_output(call);
    int status = MPI_SUCCESS;
    if (combines(call)) {
        const MPI_Datatype type = gives ? asked->input.type : asked->output.type;
        if (type == state->right_type && asked->op == state->right_op) return MPI_SUCCESS;
        status = check_with_mpi(state->process, type, asked->op);
        if (status == MPI_SUCCESS) {
            state->right_type = type;
            state->right_op = asked->op;
        }
        return fail(call, status, NULL);
    }
    if (gives && !call->input.plain) status = check_with_mpi(state->process, asked->input.type, MPI_OP_NULL);
    if (status == MPI_SUCCESS && gets && !call->output.plain)
        status = check_with_mpi(state->process, asked->output.type, MPI_OP_NULL);
    return fail(call, status, NULL);
}

int next_tag(struct state* state, bool persistent) {
    int* next = persistent ? &state->next_persistent : &state->next_tag;
    const int tag = *next + (persistent ? state->tag_half : 0);
    *next = (*next + 1) % state->tag_half;
    return tag;
}

int begin_call(struct call* call) {
    struct asked* asked = &call->asked;
    call->state = asked->among;
    int status = asked->among == NULL ? locate_state(asked->comm, &call->state) : MPI_SUCCESS;
    if (status != MPI_SUCCESS) return status;
    struct state* state = call->state;
    __atomic_add_fetch(&state->users, 1, __ATOMIC_RELAXED);
    status = check_asked(asked, state->rank, state->ranks);
    if (status == MPI_SUCCESS) {
        resolve_in_place(call);
        if (gives_input(call)) status = fail(call, describe_type(asked->input.type, &call->input), NULL);
        if (status == MPI_SUCCESS && gets_output(call))
            status = fail(call, describe_type(asked->output.type, &call->output), NULL);
        if (status == MPI_SUCCESS) status = check_types(call);
        if (status == MPI_SUCCESS) status = check_own(call);
        if (status == MPI_SUCCESS && asked->among == NULL)
            status = fail(call, begin_state(asked->comm, state), NULL);
    }
    if (status == MPI_SUCCESS)
        // Not before, as this rank may call again what was wrong here alone.
        call->tag = next_tag(state, call->persistent);
    else
        end_call(call);
    return status;
}

static bool lives_for_ever(MPI_Datatype type, int* status) {
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    *status = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/// A function of the program gets a type as it knows it, with its attributes. Otherwise these are not copied, as whatever
/// thread frees the copy calls the program to delete them.
static int keep_type(MPI_Datatype* type, bool combines, bool* owned) {
    int status = MPI_SUCCESS;
    if (lives_for_ever(*type, &status) || status != MPI_SUCCESS) return status;
    MPI_Datatype kept = MPI_DATATYPE_NULL;
#ifdef SMPI_H  // where one of a resized type has another extent
    combines = true;
#endif
    status = combines ? PMPI_Type_dup(*type, &kept) : PMPI_Type_contiguous(1, *type, &kept);
    if (status == MPI_SUCCESS && !combines) status = PMPI_Type_commit(&kept);
    *owned = kept != MPI_DATATYPE_NULL;
    if (*owned) *type = kept;
    return status;
}

int keep_types(struct call* call) {
    struct asked* asked = &call->asked;
    int status = gives_input(call) ? keep_type(&asked->input.type, combines(call), &call->owns_input_type)
                                   : MPI_SUCCESS;
    if (status == MPI_SUCCESS && gets_output(call))
        status = keep_type(&asked->output.type, combines(call), &call->owns_output_type);
    call->input.type = asked->input.type;
    call->output.type = asked->output.type;
    return fail(call, status, NULL);
}

// ---- the plan ----------------------------------------------------------------------------------------------------

/// What the core is asked, besides where blocks are that differ.
struct question {
    topoloom_call call;
    const char* schedule;               // NULL: the strategy's
    int64_t bytes;                      // what the strategy chooses by
    const struct side *input, *output;  // sides whose blocks differ
};

/// Bytes, or elements of a reduction: of the vector, a rank's block, or a pair's; on average where they differ.
static int64_t units_of(const struct call* call) {
    const struct asked* asked = &call->asked;
    const int ranks = call->state->ranks;
    if (asked->operation == TOPOLOOM_BARRIER) return 0;
    if (asked->operation == TOPOLOOM_REDUCE_SCATTER)
        return asked->input.counts == NULL ? asked->input.count : total_count(&asked->input, ranks) / ranks;
    const bool from_input = gives_input(call);
    const struct side* side = from_input ? &asked->input : &asked->output;
    const struct elements* elements = from_input ? &call->input : &call->output;
    // Ranks may count other types, of the same bytes.
    if (asked->operation == TOPOLOOM_ALL_GATHER && asked->output.counts != NULL)
        return total_count(&asked->output, ranks) * call->output.size / ranks;
    return combines(call) ? side->count : side->count * elements->size;
}

static int ask(const struct call* call, struct question* question) {
    const struct asked* asked = &call->asked;
    const struct state* state = call->state;
    const struct elements* elements = gives_input(call) ? &call->input : &call->output;
    *question = (struct question){.call = {.operation = asked->operation,
                                           .ranks = (size_t)state->ranks,
                                           .rank = (uint32_t)state->rank,
                                           .root = (uint32_t)asked->root,
                                           .units = units_of(call),
                                           .unit_bytes = 1,
                                           .in_place = call->in_place && !needs_input(asked->operation),
                                           .wants_result = 1}};
    topoloom_call* core = &question->call;
    if (combines(call)) {
        int commutes = 0;
        const int status = PMPI_Op_commutative(asked->op, &commutes);
        if (status != MPI_SUCCESS) return status;
        core->in_rank_order = !commutes;
        core->unit_bytes = elements->size > 0 ? (uint64_t)elements->size : 1;
        if (!commutes && asked->operation == TOPOLOOM_REDUCE && asked->root != 0) {
            // Trees keep the order of ranks only if they begin at rank 0.
            core->operation = TOPOLOOM_ALL_REDUCE;
            core->root = 0;
            core->wants_result = state->rank == asked->root;
            question->schedule = "recursive-doubling(fold=even)";
        }
    }
    question->bytes = core->units * (int64_t)core->unit_bytes;
    if (!asked->vector) return MPI_SUCCESS;
    // Only what goes straight does without knowing the blocks of others.
    if (asked->operation == TOPOLOOM_ALL_TO_ALL) question->schedule = "at-once";
    if (asked->operation == TOPOLOOM_GATHER || asked->operation == TOPOLOOM_SCATTER)
        question->schedule = "linear";
    if (question->schedule != NULL) core->units = 0;
    if (gives_input(call)) question->input = &asked->input;
    if (gets_output(call) && asked->operation != TOPOLOOM_REDUCE_SCATTER) question->output = &asked->output;
    return MPI_SUCCESS;
}

/// Writes where the blocks of a side are; returns how many they are.
static size_t list_side(const struct call* call, const struct side* side, const struct elements* elements,
                        bool is_copy, int64_t* units, const int64_t** core_units,
                        const int64_t** core_offsets) {
    const int count = side->by_rank ? call->state->ranks : 1;
    list_blocks(side, combines(call) ? 1 : elements->size, count, is_copy, units, units + count);
    *core_units = units;
    *core_offsets = units + count;
    return 2 * (size_t)count;
}

static int find_plan_of(struct call* call, struct question* question, char* why, size_t why_size,
                        struct plan** plan) {
    struct state* state = call->state;
    topoloom_call* core = &question->call;
    int64_t* counts = NULL;
    size_t length = 0;
    if (question->input != NULL || question->output != NULL) {
        counts = malloc(4 * (size_t)state->ranks * sizeof *counts);
        if (counts == NULL) return MPI_ERR_NO_MEM;
        if (question->input != NULL)
            length += list_side(call, question->input, &call->input, call->input_copy != NULL, counts,
                                &core->input_units, &core->input_offsets);
        if (question->output != NULL)
            length += list_side(call, question->output, &call->output, call->output_copy != NULL,
                                counts + length, &core->output_units, &core->output_offsets);
    }
    const struct plan_key key = {.operation = core->operation,
                                 .root = (int)core->root,
                                 .units = core->units,
                                 .unit_bytes = (int64_t)core->unit_bytes,
                                 .schedule = question->schedule,
                                 .in_place = core->in_place != 0,
                                 .in_rank_order = core->in_rank_order != 0,
                                 .wants_result = core->wants_result != 0};
    *plan = find_plan(state, &key, core, counts, length, why, why_size);
    free(counts);
    return *plan == NULL ? MPI_ERR_OTHER : MPI_SUCCESS;
}

// ---- memory ------------------------------------------------------------------------------------------------------

/// Room for copies of what needs one. An input of elements to be combined keeps their layout.
static int make_copies(struct call* call) {
    const struct asked* asked = &call->asked;
    const int ranks = call->state->ranks;
    const bool lies_below = call->in_place && needs_input(asked->operation);
    int64_t in = 0, out = 0;
    if (gives_input(call)) {
        const int64_t count = total_count(&asked->input, ranks);
        if (combines(call)) {
            in = lies_below && count > 0 ? (count - 1) * call->input.extent + call->input.span : 0;
        } else if (lies_below || !call->input.plain) {
            in = count * call->input.size;
        }
    }
    if (gets_output(call) && !combines(call) && !call->output.plain)
        out = total_count(&asked->output, ranks) * call->output.size;
    if (in + out == 0) return MPI_SUCCESS;
    call->copies = malloc((size_t)(in + out));
    if (call->copies == NULL) return MPI_ERR_NO_MEM;
    if (in > 0) call->input_copy = call->copies;
    if (out > 0) call->output_copy = call->copies + in;
    return MPI_SUCCESS;
}

static int fill_copies(struct call* call) {
    const struct asked* asked = &call->asked;
    const int rank = call->state->rank, ranks = call->state->ranks;
    int status = MPI_SUCCESS;
    if (call->input_copy != NULL) {
        status = combines(call)
                     ? copy_elements(&call->input, asked->input.buffer, call->input_copy - call->input.low,
                                     total_count(&asked->input, ranks))
                     : pack_side(&asked->input, &call->input, ranks, -1, call->input_copy);
    }
    const bool sends_output = asked->operation == TOPOLOOM_BROADCAST ? rank == asked->root : call->in_place;
    if (status == MPI_SUCCESS && call->output_copy != NULL && sends_output && !needs_input(asked->operation))
        status = pack_side(&asked->output, &call->output, ranks, rank, call->output_copy);
    return status;
}

static void set_bases(struct call* call) {
    const struct asked* asked = &call->asked;
    struct run* run = call->run;
    const MPI_Aint low = combines(call) ? call->input.low : 0;
    run->base[TOPOLOOM_INPUT] = !gives_input(call)         ? NULL
                                : call->input_copy != NULL ? call->input_copy - low
                                                           : (char*)asked->input.buffer;
    run->base[TOPOLOOM_OUTPUT] = !gets_output(call)          ? NULL
                                 : call->output_copy != NULL ? call->output_copy
                                                             : (char*)asked->output.buffer;
}

// ---- the run -----------------------------------------------------------------------------------------------------

static int prepare(struct call* call, char* why, size_t why_size) {
    struct state* state = call->state;
    struct question question;
    int status = ask(call, &question);
    if (status != MPI_SUCCESS) return status;
    const bool is_empty = question.bytes == 0 && !call->asked.vector;
    if (is_empty && call->asked.operation != TOPOLOOM_BARRIER) return MPI_SUCCESS;
    status = make_copies(call);
    if (status != MPI_SUCCESS) return status;
    pthread_mutex_lock(&state->guard);
    const struct choice choice = {.operation = question.call.operation,
                                  .bytes = question.bytes,
                                  .in_rank_order = question.call.in_rank_order,
                                  .is_timed = call->blocking};
    const bool chooses = question.schedule == NULL;
    if (chooses && !choose_schedule(state, &choice, &question.schedule, why, why_size))
        status = MPI_ERR_OTHER;
    struct plan* plan = NULL;
    if (status == MPI_SUCCESS) status = find_plan_of(call, &question, why, why_size, &plan);
    if (status == MPI_SUCCESS) {
        struct elements elements;
        describe_type(MPI_BYTE, &elements);
        if (combines(call)) elements = gives_input(call) ? call->input : call->output;
        call->run = take_run(plan, &elements);
        if (call->run == NULL) status = MPI_ERR_NO_MEM;
    }
    pthread_mutex_unlock(&state->guard);
    if (status != MPI_SUCCESS) return status;
    call->run->own = state->own;
    call->run->comm = call->blocking ? call->asked.comm : MPI_COMM_NULL;
    call->run->members = state->members;
    call->run->tag = call->tag;
    call->run->op = call->asked.op;
    call->run->trace =
        call->blocking && state->trace != NULL && is_call_traced(state->trace) ? state->trace : NULL;
    set_bases(call);
    // Not before: only the first call with a schedule makes its plan.
    call->is_timed = chooses && call->blocking && state->learner != NULL;
    if (call->is_timed) call->began = PMPI_Wtime();
    return call->persistent ? prepare_run(call->run) : MPI_SUCCESS;
}

int ready_call(struct call* call, bool wait, bool* done) {
    *done = true;
    if (call->ready) return MPI_SUCCESS;
    int status = advance_setup(call->state, wait, done);
    if (status != MPI_SUCCESS) return fail(call, status, NULL);
    if (!*done) return MPI_SUCCESS;
    before_trying(call);
    char why[512];
    why[0] = '\0';
    status = prepare(call, why, sizeof why);
    call->ready = status == MPI_SUCCESS;
    if (!call->ready && call->blocking && call->state->learner != NULL)
        stop_learning(call->state, MPI_ERR_NO_MEM);  // mostly, and else the same on all ranks
    return fail(call, status, why[0] == '\0' ? NULL : why);
}

int advance_call(struct call* call, enum effort effort, bool* done) {
    *done = true;
    if (call->failed != MPI_SUCCESS) return call->failed;
    int status = ready_call(call, effort == waiting, done);
    if (status != MPI_SUCCESS || !*done || call->run == NULL) return status;
    if (!call->started) {
        status = fill_copies(call);
        if (status != MPI_SUCCESS) return fail(call, status, NULL);
        if (call->run->trace != NULL) begin_trace(call->run->trace);
        call->started = true;
    }
    status = advance_run(call->run, effort, done);
    if (status != MPI_SUCCESS) return fail(call, status, NULL);
    if (!*done) return MPI_SUCCESS;
    call->started = false;
    const struct asked* asked = &call->asked;
    const bool is_source = asked->operation == TOPOLOOM_BROADCAST && call->state->rank == asked->root;
    if (call->output_copy == NULL || is_source) return MPI_SUCCESS;
    return fail(call, unpack_side(&asked->output, &call->output, call->state->ranks, call->output_copy),
                NULL);
}

void end_call(struct call* call) {
    if (call->run != NULL) {
        pthread_mutex_lock(&call->state->guard);
        give_back_run(call->run);
        pthread_mutex_unlock(&call->state->guard);
    }
    free(call->copies);
    if (call->owns_input_type) PMPI_Type_free(&call->asked.input.type);
    if (call->owns_output_type) PMPI_Type_free(&call->asked.output.type);
    release_state(call->state);
}
