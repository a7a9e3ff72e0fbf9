// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a call: who has which side, and what is wrong with them.
#include "collective.h"

static bool is_root(const struct asked* asked, int rank) { return rank == asked->root; }

bool has_input(const struct asked* asked, int rank) {
    if (asked->operation == TOPOLOOM_BARRIER || asked->operation == TOPOLOOM_BROADCAST) return false;
    return asked->operation != TOPOLOOM_SCATTER || is_root(asked, rank);
}

bool has_output(const struct asked* asked, int rank) {
    if (asked->operation == TOPOLOOM_BARRIER) return false;
    const bool at_root = asked->operation == TOPOLOOM_GATHER || asked->operation == TOPOLOOM_REDUCE;
    return !at_root || is_root(asked, rank);
}

bool needs_op(enum topoloom_operation operation) {
    return operation == TOPOLOOM_REDUCE || operation == TOPOLOOM_ALL_REDUCE ||
           operation == TOPOLOOM_REDUCE_SCATTER || operation == TOPOLOOM_SCAN || operation == TOPOLOOM_EXSCAN;
}

/// Whether this rank may give MPI_IN_PLACE: for its input if it also has an output, or a root for what it scatters to itself.
static bool can_be_in_place(const struct asked* asked, bool is_input, int rank) {
    if (asked->operation == TOPOLOOM_SCATTER) return !is_input && is_root(asked, rank);
    return is_input && has_output(asked, rank);
}

static bool is_rooted(const struct asked* asked) {
    return asked->operation == TOPOLOOM_BROADCAST || asked->operation == TOPOLOOM_REDUCE ||
           asked->operation == TOPOLOOM_SCATTER || asked->operation == TOPOLOOM_GATHER;
}

static int check_side(const struct asked* asked, const struct side* side, int rank, int ranks) {
    const bool is_input = side == &asked->input;
    const char* which = is_input ? "send" : "receive";
    if (side->buffer == MPI_IN_PLACE && can_be_in_place(asked, is_input, rank)) return MPI_SUCCESS;
    if (side->buffer == MPI_IN_PLACE)
        return raise_error(asked->comm, MPI_ERR_BUFFER, asked->name,
                           "the %s buffer of rank %d cannot be MPI_IN_PLACE", which, rank);
    if (side->type == MPI_DATATYPE_NULL)
        return raise_error(asked->comm, MPI_ERR_TYPE, asked->name, "the datatype of the %s is null", which);
    if (asked->vector && side->by_rank && side->counts == NULL)
        return raise_error(asked->comm, MPI_ERR_ARG, asked->name, "the %s counts are null", which);
    bool has_any = side->count > 0;
    if (side->counts == NULL && side->count < 0)
        return raise_error(asked->comm, MPI_ERR_COUNT, asked->name, "a %s count of %lld is negative", which,
                           (long long)side->count);
    for (int r = 0; side->counts != NULL && r < ranks; ++r) {
        has_any = has_any || side->counts[r] > 0;
        if (side->counts[r] < 0)
            return raise_error(asked->comm, MPI_ERR_COUNT, asked->name,
                               "a %s count of %d, for rank %d, is negative", which, side->counts[r], r);
    }
    if (side->buffer != NULL || !has_any) return MPI_SUCCESS;
    struct elements elements;
    const int status = describe_type(side->type, &elements);
    // An absolute datatype has its addresses in itself.
    if (status != MPI_SUCCESS || elements.size == 0 || elements.low != 0) return status;
    return raise_error(asked->comm, MPI_ERR_BUFFER, asked->name, "the %s buffer is null", which);
}

int check_asked(const struct asked* asked, int rank, int ranks) {
    if (is_rooted(asked) && (asked->root < 0 || asked->root >= ranks))
        return raise_error(asked->comm, MPI_ERR_ROOT, asked->name, "root %d is none of the ranks 0 to %d",
                           asked->root, ranks - 1);
    if (needs_op(asked->operation) && asked->op == MPI_OP_NULL)
        return raise_error(asked->comm, MPI_ERR_OP, asked->name, "the operator is null");
    int status = MPI_SUCCESS;
    if (has_input(asked, rank)) status = check_side(asked, &asked->input, rank, ranks);
    if (status == MPI_SUCCESS && has_output(asked, rank))
        status = check_side(asked, &asked->output, rank, ranks);
    return status;
}
