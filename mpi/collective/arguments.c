// SPDX-License-Identifier: BSD-3-Clause
// Checks the arguments of a call, and determines which buffers a rank uses.
#include "collective.h"

static bool is_root(const struct arguments* arguments, int rank) { return rank == arguments->root; }

bool has_input(const struct arguments* arguments, int rank) {
    if (arguments->operation == TOPOLOOM_BARRIER || arguments->operation == TOPOLOOM_BCAST) return false;
    return arguments->operation != TOPOLOOM_SCATTER || is_root(arguments, rank);
}

bool has_output(const struct arguments* arguments, int rank) {
    if (arguments->operation == TOPOLOOM_BARRIER) return false;
    const bool only_at_root =
        arguments->operation == TOPOLOOM_GATHER || arguments->operation == TOPOLOOM_REDUCE;
    return !only_at_root || is_root(arguments, rank);
}

bool must_copy_in_place(enum topoloom_operation operation) {
    return operation == TOPOLOOM_ALLTOALL || operation == TOPOLOOM_REDUCE_SCATTER;
}

static bool is_reduction(enum topoloom_operation operation) {
    return operation == TOPOLOOM_REDUCE || operation == TOPOLOOM_ALLREDUCE ||
           operation == TOPOLOOM_REDUCE_SCATTER || operation == TOPOLOOM_SCAN || operation == TOPOLOOM_EXSCAN;
}

static bool is_rooted(enum topoloom_operation operation) {
    return operation == TOPOLOOM_BCAST || operation == TOPOLOOM_REDUCE || operation == TOPOLOOM_SCATTER ||
           operation == TOPOLOOM_GATHER;
}

/// Whether a rank may pass MPI_IN_PLACE: as the output of the root in a scatter, otherwise as the input of a rank with
/// output.
static bool can_be_in_place(const struct arguments* arguments, bool is_input, int rank) {
    if (arguments->operation == TOPOLOOM_SCATTER) return !is_input && is_root(arguments, rank);
    return is_input && has_output(arguments, rank);
}

static int check_buffer(const struct arguments* arguments, bool is_input, int rank, int ranks) {
    const struct buffer_desc* desc = is_input ? &arguments->input : &arguments->output;
    const char* which = is_input ? "send" : "receive";
    const MPI_Comm comm = arguments->comm;
    if (desc->buffer == MPI_IN_PLACE && can_be_in_place(arguments, is_input, rank)) return MPI_SUCCESS;
    if (desc->buffer == MPI_IN_PLACE)
        return raise_error(comm, MPI_ERR_BUFFER, arguments->name,
                           "the %s buffer of rank %d cannot be MPI_IN_PLACE", which, rank);
    if (desc->type == MPI_DATATYPE_NULL)
        return raise_error(comm, MPI_ERR_TYPE, arguments->name, "the %s datatype is null", which);
    if (arguments->is_vector && desc->has_block_per_rank && desc->counts == NULL)
        return raise_error(comm, MPI_ERR_ARG, arguments->name, "the %s counts are null", which);
    if (desc->counts == NULL && desc->count < 0)
        return raise_error(comm, MPI_ERR_COUNT, arguments->name, "the %s count is negative: %lld", which,
                           (long long)desc->count);
    bool has_elements = desc->count > 0;
    for (int r = 0; desc->counts != NULL && r < ranks; ++r) {
        has_elements = has_elements || desc->counts[r] > 0;
        if (desc->counts[r] < 0)
            return raise_error(comm, MPI_ERR_COUNT, arguments->name,
                               "the %s count for rank %d is negative: %d", which, r, desc->counts[r]);
    }
    if (desc->buffer != NULL || !has_elements) return MPI_SUCCESS;
    struct type_desc type;
    const int status = describe_type(desc->type, &type);
    // With a datatype of absolute addresses, the buffer may be NULL.
    if (status != MPI_SUCCESS || type.size == 0 || type.true_lb != 0) return status;
    return raise_error(comm, MPI_ERR_BUFFER, arguments->name, "the %s buffer is null", which);
}

int check_arguments(const struct arguments* arguments, int rank, int ranks) {
    if (is_rooted(arguments->operation) && (arguments->root < 0 || arguments->root >= ranks))
        return raise_error(arguments->comm, MPI_ERR_ROOT, arguments->name,
                           "root %d is out of range: ranks are 0 to %d", arguments->root, ranks - 1);
    if (is_reduction(arguments->operation) && arguments->op == MPI_OP_NULL)
        return raise_error(arguments->comm, MPI_ERR_OP, arguments->name, "the operator is null");
    int status = MPI_SUCCESS;
    if (has_input(arguments, rank)) status = check_buffer(arguments, true, rank, ranks);
    if (status == MPI_SUCCESS && has_output(arguments, rank))
        status = check_buffer(arguments, false, rank, ranks);
    return status;
}
