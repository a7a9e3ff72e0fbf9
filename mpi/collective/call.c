// SPDX-License-Identifier: BSD-3-Clause
// From the arguments of a call to a run: sizes, the schedule, where data are, and copies of what has gaps.
#include <stdlib.h>
#include <string.h>

#include "collective.h"

static bool combines(const struct call* call) { return call->asked.op != MPI_OP_NULL; }

static int fail(const struct call* call, int status, const char* why) {
    if (status == MPI_SUCCESS) return status;
    int length = 0;
    char text[MPI_MAX_ERROR_STRING];
    if (why == NULL && PMPI_Error_string(status, text, &length) == MPI_SUCCESS) why = text;
    int error_class = status;
    PMPI_Error_class(status, &error_class);
    raise_error(call->asked.comm, error_class, call->asked.name, "%s", why == NULL ? "failed" : why);
    return status;
}

// ---- sizes -----------------------------------------------------------------------------------------------------

static int64_t count_of(const struct side* side, int rank) {
    return side->counts != NULL ? side->counts[rank] : side->count;
}

static int64_t total_count(const struct side* side, int ranks) {
    if (side->counts == NULL) return side->by_rank ? side->count * ranks : side->count;
    int64_t sum = 0;
    for (int r = 0; r < ranks; ++r) sum += side->counts[r];
    return sum;
}

/// In elements from the buffer's beginning.
static int64_t offset_of(const struct side* side, int rank, int64_t packed) {
    return side->displs != NULL ? side->displs[rank] : side->counts != NULL ? packed : rank * side->count;
}

/// Bytes of a block of the equal ones; of vectors the number of elements.
static int64_t units_of(const struct call* call) {
    const struct asked* asked = &call->asked;
    const bool from_output = asked->input.buffer == MPI_IN_PLACE || !has_input(asked, call->state->rank);
    const struct side* side = from_output ? &asked->output : &asked->input;
    const struct elements* elements = from_output ? &call->output : &call->input;
    const bool is_share = asked->operation == TOPOLOOM_REDUCE_SCATTER;  // of a rank; the input has all of them
    const int64_t count = is_share ? asked->output.count : side->count;
    return combines(call) ? count : count * elements->size;
}

/// Writes where the blocks of a side are, in units, if they differ.
static void list_blocks(const struct side* side, const struct elements* elements, int ranks, bool packed,
                        int64_t* units, int64_t* offsets, bool in_elements) {
    const int64_t size = in_elements ? 1 : elements->size;
    int64_t before = 0;
    for (int r = 0; r < ranks; ++r) {
        const int64_t count = count_of(side, r);
        units[r] = count * size;
        offsets[r] = (packed ? before : offset_of(side, r, before)) * size;
        before += count;
    }
}

// ---- copies ------------------------------------------------------------------------------------------------------

/// Calls pack or unpack for the blocks of a side; the copy has them one after another.
static int copy_side(const struct side* side, const struct elements* elements, int ranks, char* copy, bool in) {
    char* buffer = (char*)side->buffer;
    if (!side->by_rank) {
        return in ? pack_elements(elements, buffer, side->count, copy)
                  : unpack_elements(elements, copy, side->count, buffer);
    }
    int64_t before = 0;
    for (int r = 0; r < ranks; ++r) {
        const int64_t count = count_of(side, r);
        char* at = buffer + offset_of(side, r, before) * elements->extent;
        char* packed = copy + before * elements->size;
        const int status = in ? pack_elements(elements, at, count, packed)
                              : unpack_elements(elements, packed, count, at);
        if (status != MPI_SUCCESS) return status;
        before += count;
    }
    return MPI_SUCCESS;
}

/// Of a scatter in place the root's block stays in the input; of an all-to-all and a reduce-scatter the input would lie
/// below the result.
static bool input_lies_in_output(const struct call* call) {
    return call->asked.input.buffer == MPI_IN_PLACE &&
           (call->asked.operation == TOPOLOOM_ALL_TO_ALL || call->asked.operation == TOPOLOOM_REDUCE_SCATTER);
}

/// Room for copies of what needs one. An input of elements to be combined keeps their layout.
static int make_copies(struct call* call) {
    const struct asked* asked = &call->asked;
    const int rank = call->state->rank, ranks = call->state->ranks;
    const bool has_in = has_input(asked, rank) && (asked->input.buffer != MPI_IN_PLACE || input_lies_in_output(call));
    const bool has_out = has_output(asked, rank) && asked->output.buffer != MPI_IN_PLACE;
    int64_t in = 0, out = 0;
    if (has_in && input_lies_in_output(call)) {
        const int64_t count = total_count(&asked->output, ranks);
        const bool is_share = asked->operation == TOPOLOOM_REDUCE_SCATTER && asked->input.counts == NULL;
        in = (is_share ? count * ranks : asked->operation == TOPOLOOM_REDUCE_SCATTER
                                             ? total_count(&asked->input, ranks)
                                             : count);
        in = combines(call) ? in * call->output.extent + call->output.span : in * call->output.size;
    } else if (has_in && !combines(call) && !call->input.plain) {
        in = total_count(&asked->input, ranks) * call->input.size;
    }
    if (has_out && !combines(call) && !call->output.plain)
        out = total_count(&asked->output, ranks) * call->output.size;
    if (in + out == 0) return MPI_SUCCESS;
    call->copies = malloc((size_t)(in + out));
    if (call->copies == NULL) return MPI_ERR_NO_MEM;
    if (in > 0) call->input_copy = call->copies;
    if (out > 0) call->output_copy = call->copies + in;
    return MPI_SUCCESS;
}
