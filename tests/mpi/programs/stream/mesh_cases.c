// SPDX-License-Identifier: BSD-3-Clause
// Streams over meshes with holes, on the first LEAST [2], LEAST + 1, ... of all ranks: `mesh_cases
// SEED DIMENSIONS [LEAST]`. With LEAST, only standard meshes are tested. Rank 0 prints the tested
// ranks.
#include <stdbool.h>

#include "ledger.h"

enum { bucket_bytes = 160, bucket_memory = bucket_bytes - 8 + 64 };

static int check_items(void* context, const void* items, int count) {
    ledger* l = context;
    if ((uintptr_t)items % 8 != 0) fail("items are not aligned");
    for (int i = 0; i < count; ++i) {
        const item one = ((const item*)items)[i];
        record_item(l, &one);
        if (one.passes == 0) continue;
        const int target = (one.number + one.source * 5) % ranks;
        const item passed = {one.source, one.number, one.passes - 1, target, l->phase, 1};
        record_push(l, &passed);
        check_status(topoloom_stream_push(l->stream, &passed, target));
    }
    return count;
}

/// Runs phases in which ranks push to all ranks, push to one rank, and push nothing. Returns the maximum
/// bytes of buckets.
static long long run_case(topoloom_stream_options options, int most_passes) {
    ledger l = make_ledger();
    options.bucket_bytes = bucket_bytes;
    check_status(topoloom_stream_create(comm, sizeof(item), check_items, &l, &options, &l.stream));
    for (; l.phase < 3; ++l.phase) {
        const uint32_t count = l.phase == 2 ? 0 : 8 + draw(24);
        for (uint32_t i = 0; i < count; ++i) {
            const int target = l.phase == 0 ? (int)draw((uint32_t)ranks) : ranks - 1;
            const item one = make_next_item(&l, target, (int)draw((uint32_t)most_passes + 1));
            check_status(topoloom_stream_push(l.stream, &one, target));
        }
        check_status(topoloom_stream_wait(l.stream));
    }
    check_sums(&l);
    long long now = 0, most = 0;
    check_status(topoloom_stream_get_memory(l.stream, &now, &most));
    free_ledger(&l);
    return most;
}

/// Returns the expected bucket memory of about equal extents: two buckets per rank on a line, and
/// 12 per axis.
static long long compute_useful_bytes(int dimensions) {
    int sum = 0;
    for (int left = ranks, a = dimensions; a > 0; --a) {
        int extent = 1;
        for (long long held = 0; held < left; extent += held < left) {
            held = 1;
            for (int i = 0; i < a; ++i) held *= extent;
        }
        sum += extent;
        left = (left + extent - 1) / extent;
    }
    return (2LL * sum + 12LL * dimensions) * bucket_memory;
}

/// `thorough` adds nonstandard meshes and less memory.
static void run_all(int dimensions, bool thorough) {
    int extents[4] = {ranks, ranks, ranks, ranks}, order[256];
    for (int i = 0; i < ranks; ++i) order[i] = ranks - 1 - i;
    topoloom_stream_options options = {.dimensions = dimensions};
    if (run_case(options, 0) > compute_useful_bytes(dimensions))
        fail("there were more buckets than lines have ranks");
    if (!thorough) return;
    options.order = order;
    run_case(options, 3);
    options.memory_bytes = 2LL * dimensions * bucket_memory;
    if (run_case(options, 0) > options.memory_bytes) fail("the bound did not hold");
    options.memory_bytes = 0;
    options.extents = extents;
    for (int a = 0; a < dimensions; ++a) extents[a] = 2;
    extents[dimensions / 2] = (ranks + 1) / 2;
    if (dimensions > 1) run_case(options, 2);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int world = 0, world_rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    const int least = argc > 3 ? atoi(argv[3]) : 2;
    for (ranks = least; ranks <= world; ++ranks) {
        MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, 0, &comm);
        if (comm == MPI_COMM_NULL) continue;
        MPI_Comm_rank(comm, &rank);
        state = (uint64_t)(atoi(argv[1]) * 1000 + rank + 1);
        run_all(atoi(argv[2]), argc <= 3);
        MPI_Comm_free(&comm);
    }
    if (world_rank == 0) printf("%d to %d ranks: every item came once\n", least, world);
    MPI_Finalize();
    return 0;
}
