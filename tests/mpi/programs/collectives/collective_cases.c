// SPDX-License-Identifier: BSD-3-Clause
// Random collectives, by Topoloom and by MPI: results must be equal byte by byte.
// Usage: collective_cases SEED CASES [SCHEDULE...]; without SCHEDULE, TOPOLOOM_COLLECTIVES selects
// it.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_collective.h>

#include "shared_random.h"

// ---- types and operators -----------------------------------------------------------------------------------------

enum { type_count = 5, op_count = 4 };
static MPI_Datatype types[type_count];
static MPI_Op ops[op_count];

/// Composes the affine functions x -> a x + b of 64-bit numbers, the left one first. The third
/// number is unused.
static void compose_maps(void* left, void* right, int* count, MPI_Datatype* type) {
    (void)type;
    const uint64_t* f = left;
    uint64_t* g = right;
    for (int i = 0; i < 3 * *count; i += 3) {
        g[i + 1] = g[i] * f[i + 1] + g[i + 1];
        g[i] *= f[i];
    }
}

static void apply_xor(void* from, void* to, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < 3 * *count; ++i)
        if (i % 3 != 2) ((uint64_t*)to)[i] ^= ((uint64_t*)from)[i];
}

static void make_types(void) {
    types[0] = MPI_INT;
    types[1] = MPI_BYTE;
    MPI_Datatype strided, pair;
    MPI_Type_vector(3, 2, 4, MPI_SHORT, &strided);
    MPI_Type_create_resized(strided, -4, 40, &types[2]);  // lower bound below the address, gap at the end
    MPI_Type_free(&strided);
    MPI_Type_contiguous(2, MPI_UINT64_T, &pair);
    MPI_Type_create_resized(pair, 0, 24, &types[3]);
    MPI_Type_free(&pair);
    MPI_Type_indexed(2, (int[]){1, 2}, (int[]){3, 0}, MPI_INT, &types[4]);  // decreasing displacements
    for (int t = 2; t < type_count; ++t) MPI_Type_commit(&types[t]);
    ops[0] = MPI_SUM;
    ops[1] = MPI_MAX;
    MPI_Op_create(compose_maps, 0, &ops[2]);
    MPI_Op_create(apply_xor, 1, &ops[3]);
}

// ---- memory ------------------------------------------------------------------------------------------------------

enum { widest = 40, before = 64 };

static char* allocate_buffer(int64_t elements) {
    const size_t bytes = (size_t)(elements + 1) * widest + 2 * before;
    char* memory = malloc(bytes);
    memset(memory, 0x5a, bytes);
    return memory;
}

static void fill(char* memory, int64_t elements, int rank) {
    for (int64_t i = 0; i < (elements + 1) * widest + 2 * before; ++i)
        memory[i] = (char)(i * 7 + rank * 131 + (i >> 8) * (rank + 3));
}

// ---- a case ------------------------------------------------------------------------------------------------------

enum operation {
    alltoall,
    alltoallv,
    allgather,
    allgatherv,
    allreduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    exscan,
    bcast,
    reduce,
    gather,
    gatherv,
    scatter,
    scatterv,
    operation_count
};
static const char* const names[] = {
    "alltoall", "alltoallv", "allgather", "allgatherv", "allreduce", "reduce_scatter", "reduce_scatter_block",
    "scan",     "exscan",    "bcast",     "reduce",     "gather",    "gatherv",        "scatter",
    "scatterv"};
enum mode { blocking, nonblocking, persistent, mode_count };

struct test_call {
    enum operation operation;
    enum mode mode;
    MPI_Comm comm;
    int rank, ranks, root, count, in_place;
    MPI_Datatype type;
    MPI_Op op;
    int *give, *take, *give_at, *take_at;  // differing blocks
    int64_t in_elements, out_elements;
    char *in, *out, *expected;
    topoloom_request request;
};

static int matrix_count(int from, int to, int seed) {
    const unsigned mixed = (unsigned)(from * 31 + to * 17 + seed) * 2654435761u;
    return (int)((mixed >> 20) % 7) * ((mixed >> 28) % 3 != 0);
}

static void draw_counts(struct test_call* one) {
    const size_t ranks = (size_t)one->ranks;
    one->give = calloc(4 * ranks, sizeof *one->give);
    one->take = one->give + ranks;
    one->give_at = one->take + ranks;
    one->take_at = one->give_at + ranks;
    const int seed = (int)draw(1000), backwards = (int)draw(2), hole = (int)draw(3), scale = 1 + (int)draw(3);
    for (int r = 0; r < one->ranks; ++r) {
        const int by_rank = scale * matrix_count(r, 0, seed);
        const int is_matrix = one->operation == alltoallv;
        one->give[r] = is_matrix ? matrix_count(one->rank, r, seed) : by_rank;
        one->take[r] = is_matrix ? matrix_count(r, one->rank, seed) : by_rank;
        if (is_matrix && one->in_place)
            one->give[r] = one->take[r] =
                matrix_count(r < one->rank ? r : one->rank, r < one->rank ? one->rank : r, seed);
    }
    int give_at = 0, take_at = 0;
    for (int i = 0; i < one->ranks; ++i) {
        const int r = backwards ? one->ranks - 1 - i : i;
        one->give_at[r] = give_at;
        one->take_at[r] = take_at;
        give_at += one->give[r] + hole;
        take_at += one->take[r] + hole;
    }
    one->in_elements = give_at;
    one->out_elements = take_at;
}

static struct test_call draw_test_call(MPI_Comm comm) {
    struct test_call one = {.comm = comm, .op = MPI_OP_NULL};
    MPI_Comm_rank(comm, &one.rank);
    MPI_Comm_size(comm, &one.ranks);
    one.operation = (enum operation)draw(operation_count);
    one.mode = (enum mode)draw(mode_count);
    one.root = (int)draw((uint64_t)one.ranks);
    const int most[] = {1, 4, 60, 1500};
    one.count = (int)draw((uint64_t)most[draw(4)] + 1);
    one.in_place = draw(4) == 0;
    one.type = types[draw(type_count)];
    const int op = (int)draw(op_count);
    switch (one.operation) {
        case allreduce:
        case reduce_scatter:
        case reduce_scatter_block:
        case scan:
        case exscan:
        case reduce:
            one.op = ops[op];
            one.type = op < 2 ? MPI_INT : types[3];
            break;
        default:
            break;
    }
    const int64_t all = (int64_t)one.count * one.ranks;
    one.in_elements = one.out_elements = all;
    if (one.operation == alltoallv || one.operation == allgatherv || one.operation == reduce_scatter ||
        one.operation == gatherv || one.operation == scatterv)
        draw_counts(&one);
    const int64_t most_elements =
        (one.in_elements > one.out_elements ? one.in_elements : one.out_elements) + 64;
    one.in = allocate_buffer(most_elements);
    one.out = allocate_buffer(most_elements);
    one.expected = allocate_buffer(most_elements);
    one.in_elements = one.out_elements = most_elements;
    fill(one.in, most_elements, one.rank);
    if (one.in_place || one.operation == bcast) {
        fill(one.out, most_elements, one.rank);
        fill(one.expected, most_elements, one.rank);
    }
    return one;
}

// Argument lists that MPI and Topoloom share.
#define ALLTOALL IN, c->count, c->type, out, c->count, c->type
#define ALLTOALLV IN, c->give, c->give_at, c->type, out, c->take, c->take_at, c->type
#define ALLGATHER IN, c->count, c->type, out, c->count, c->type
#define ALLGATHERV IN, c->take[c->rank], c->type, out, c->take, c->take_at, c->type
#define REDUCE IN, out, c->count, c->type, c->op
#define REDUCE_SCATTER IN, out, c->take, c->type, c->op
#define BCAST out, c->count, c->type, c->root
#define GATHER AT_ROOT, c->count, c->type, out, c->count, c->type, c->root
#define GATHERV AT_ROOT, c->take[c->rank], c->type, out, c->take, c->take_at, c->type, c->root
#define SCATTER in, c->count, c->type, BELOW_ROOT, c->count, c->type, c->root
#define SCATTERV in, c->give, c->give_at, c->type, BELOW_ROOT, c->give[c->rank], c->type, c->root
#define IN c->in_place ? MPI_IN_PLACE : in
#define AT_ROOT c->in_place && c->rank == c->root ? MPI_IN_PLACE : in
#define BELOW_ROOT c->in_place && c->rank == c->root ? MPI_IN_PLACE : out

#define EACH_OPERATION(DO)                 \
    DO(alltoall, Alltoall, ALLTOALL)       \
    DO(alltoallv, Alltoallv, ALLTOALLV)    \
    DO(allgather, Allgather, ALLGATHER)    \
    DO(allgatherv, Allgatherv, ALLGATHERV) \
    DO(allreduce, Allreduce, REDUCE)       \
    DO(scan, Scan, REDUCE)                 \
    DO(exscan, Exscan, REDUCE)             \
    DO(bcast, Bcast, BCAST)                \
    DO(gather, Gather, GATHER)             \
    DO(gatherv, Gatherv, GATHERV)          \
    DO(scatter, Scatter, SCATTER)          \
    DO(scatterv, Scatterv, SCATTERV)

/// Reduces one part after another: MPI_Reduce_scatter of MPICH 4.0 fails for types with gaps and
/// ordered operators.
static void reduce_each_part(const struct test_call* c, const char* in, char* out) {
    MPI_Aint low = 0, extent = 0;
    MPI_Type_get_extent(c->type, &low, &extent);
    for (int r = 0; r < c->ranks; ++r) {
        const int count = c->operation == reduce_scatter ? c->take[r] : c->count;
        MPI_Reduce(in, out, count, c->type, c->op, r, c->comm);
        in += count * extent;
    }
}

static void call_mpi(struct test_call* c) {
    const char* in = c->in + before;
    char* out = c->expected + before;
    switch (c->operation) {
#define DO(name, Name, arguments)       \
    case name:                          \
        MPI_##Name(arguments, c->comm); \
        break;
        EACH_OPERATION(DO)
#undef DO
        case reduce:  // not in place either, as MPICH 4.0 fails there too
            MPI_Reduce(in, out, c->count, c->type, c->op, c->root, c->comm);
            break;
        case reduce_scatter:
        case reduce_scatter_block:
            reduce_each_part(c, in, out);
            break;
        default:
            break;
    }
}

static void call_topoloom(struct test_call* c) {
    const char* in = c->in + before;
    char* out = c->out + before;
    switch (c->operation) {
#define DO(name, Name, arguments)                                                                          \
    case name:                                                                                             \
        if (c->mode == blocking) topoloom_##name(arguments, c->comm);                                      \
        if (c->mode == nonblocking) topoloom_i##name(arguments, c->comm, &c->request);                     \
        if (c->mode == persistent) topoloom_##name##_init(arguments, c->comm, MPI_INFO_NULL, &c->request); \
        break;
        EACH_OPERATION(DO)
#undef DO
        case reduce_scatter:
            if (c->mode == blocking) topoloom_reduce_scatter(REDUCE_SCATTER, c->comm);
            if (c->mode == nonblocking) topoloom_ireduce_scatter(REDUCE_SCATTER, c->comm, &c->request);
            if (c->mode == persistent)
                topoloom_reduce_scatter_init(REDUCE_SCATTER, c->comm, MPI_INFO_NULL, &c->request);
            break;
        case reduce_scatter_block:
            if (c->mode == blocking) topoloom_reduce_scatter_block(REDUCE, c->comm);
            if (c->mode == nonblocking) topoloom_ireduce_scatter_block(REDUCE, c->comm, &c->request);
            if (c->mode == persistent)
                topoloom_reduce_scatter_block_init(REDUCE, c->comm, MPI_INFO_NULL, &c->request);
            break;
        case reduce:
            if (c->mode == blocking)
                topoloom_reduce(AT_ROOT, out, c->count, c->type, c->op, c->root, c->comm);
            if (c->mode == nonblocking)
                topoloom_ireduce(AT_ROOT, out, c->count, c->type, c->op, c->root, c->comm, &c->request);
            if (c->mode == persistent)
                topoloom_reduce_init(AT_ROOT, out, c->count, c->type, c->op, c->root, c->comm, MPI_INFO_NULL,
                                     &c->request);
            break;
        default:
            break;
    }
}

/// After an in-place reduce_scatter, MPI defines only the content of the rank's own part.
static int is_equal(const struct test_call* c) {
    size_t bytes = (size_t)(c->out_elements + 1) * widest + 2 * before;
    if (c->in_place && (c->operation == reduce_scatter || c->operation == reduce_scatter_block)) {
        MPI_Aint low = 0, extent = 0;
        MPI_Type_get_extent(c->type, &low, &extent);
        const int own = c->operation == reduce_scatter ? c->take[c->rank] : c->count;
        bytes = before + (size_t)own * (size_t)extent;
    }
    return memcmp(c->out, c->expected, bytes) == 0;
}

static int failures;

static void check(const struct test_call* c, int number, const char* schedule) {
    if (c->operation == exscan && c->rank == 0) return;
    if (is_equal(c)) return;
    ++failures;
    int op = 0;
    while (op < op_count - 1 && ops[op] != c->op) ++op;
    printf(
        "case %d: %s, rank %d of %d, root %d, count %d, in place %d, operator %d, mode %d, schedule '%s': "
        "differs\n",
        number, names[c->operation], c->rank, c->ranks, c->root, c->count, c->in_place, op, c->mode,
        schedule);
    fflush(stdout);
}

static void run_again(struct test_call* c) {
    // Restarts the persistent request with the initial buffers.
    if (c->in_place || c->operation == bcast) fill(c->out, c->out_elements, c->rank);
    topoloom_start(&c->request);
    topoloom_wait(&c->request, MPI_STATUS_IGNORE);
    topoloom_request_free(&c->request);
}

/// Starts one to three concurrent calls; ranks wait for them in different orders.
static void run_group(MPI_Comm comm, int number, const char* schedule) {
    struct test_call group[3];
    const int count = 1 + (int)draw(3);
    for (int i = 0; i < count; ++i) {
        group[i] = draw_test_call(comm);
        call_mpi(&group[i]);
    }
    for (int i = 0; i < count; ++i) {
        call_topoloom(&group[i]);
        if (group[i].mode == persistent) topoloom_start(&group[i].request);
    }
    for (int i = 0; i < count; ++i) {
        struct test_call* c = &group[(i + group[0].rank) % count];
        topoloom_wait(&c->request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < count; ++i) {
        struct test_call* c = &group[i];
        check(c, number, schedule);
        if (c->mode == persistent) {
            run_again(c);
            check(c, number, schedule);
        }
        free(c->give);
        free(c->in);
        free(c->out);
        free(c->expected);
    }
}

static void set_schedule(const char* schedule) {
    char setting[200];
    snprintf(setting, sizeof setting, "schedule=%s", schedule);
    setenv("TOPOLOOM_COLLECTIVES", setting, 1);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    chance = strtoull(argv[1], NULL, 10);
    const int cases = atoi(argv[2]);
    const int schedules = argc > 3 ? argc - 3 : 1;
    make_types();
    for (int s = 0; s < schedules; ++s) {
        const char* schedule = argc > 3 ? argv[3 + s] : "";
        if (argc > 3) set_schedule(schedule);
        // All ranks, all ranks in reverse order, and the first ranks.
        MPI_Comm comms[3] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
        const int some = 1 + (int)draw((uint64_t)ranks);
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
        MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, rank, &comms[2]);
        for (int i = 0; i < cases; ++i) {
            const int which = (int)draw(3);
            const uint64_t seed = draw(UINT64_MAX), after = chance;
            chance = seed;
            if (comms[which] != MPI_COMM_NULL) run_group(comms[which], i, schedule);
            chance = after;
        }
        for (int c = 0; c < 3; ++c)
            if (comms[c] != MPI_COMM_NULL) MPI_Comm_free(&comms[c]);
    }
    int all = 0;
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d failures\n", all);
    for (int t = 2; t < type_count; ++t) MPI_Type_free(&types[t]);
    MPI_Op_free(&ops[2]);
    MPI_Op_free(&ops[3]);
    MPI_Finalize();
    return failures != 0;
}
