// SPDX-License-Identifier: BSD-3-Clause
// Streams with a ledger of every item: `stream_cases SEED ROUNDS DIMENSIONS WHAT...`. Rank 0 prints
// each passed case.
#include <string.h>
#include <unistd.h>

#include "ledger.h"

static int dimensions;  // number of dimensions of the mesh
static int stop_every;  // mean number of items after which a handler refuses more; 0: never

static int handle_items(void* context, const void* items, int count) {
    ledger* l = context;
    for (int i = 0; i < count; ++i) {
        if (stop_every > 0 && draw((uint32_t)stop_every) == 0) return i;
        const item one = ((const item*)items)[i];
        record_item(l, &one);
        if (one.passes == 0) continue;
        const int target = (int)draw((uint32_t)ranks);
        const item passed = {one.source, one.number, one.passes - 1, target, l->phase, 1};
        record_push(l, &passed);
        check_status(topoloom_stream_push(l->stream, &passed, target));
    }
    return count;
}

/// Draws options; those that must be equal on all ranks depend on the seed only.
static topoloom_stream_options draw_options(int seed) {
    topoloom_stream_options options = {.bucket_bytes = 48 + seed * 37 % 200, .dimensions = dimensions};
    if (draw(2) == 0) options.memory_bytes = 4096 + draw(20000);
    options.flush_timeout = draw(2) == 0 ? 1e-5 : 1e-3;
    return options;
}

static int require_again(int status) {
    if (status == TOPOLOOM_STREAM_STOPPED) return 1;
    check_status(status);
    return 0;
}

/// Consecutive phases without a barrier; some phases or ranks have no items.
static void run_phases(int seed, int rounds) {
    const topoloom_stream_options options = draw_options(seed);
    ledger l = make_ledger();
    check_status(topoloom_stream_create(MPI_COMM_WORLD, sizeof(item), handle_items, &l, &options, &l.stream));
    for (; l.phase < rounds; ++l.phase) {
        const uint32_t count = l.phase % 5 == 4 || draw(3) == 0 ? 0 : draw(400);
        for (uint32_t i = 0; i < count; ++i) {
            const int target = (int)draw((uint32_t)ranks);
            const item one = make_next_item(&l, target, (int)draw(5));
            while (require_again(topoloom_stream_push(l.stream, &one, target))) continue;
            if (draw(100) == 0) check_status(topoloom_stream_flush(l.stream));
            int ended = 0;
            if (draw(20) == 0) (void)require_again(topoloom_stream_progress(l.stream, &ended));
            if (ended) fail("a phase ended before this rank was done");
        }
        while (require_again(topoloom_stream_wait(l.stream))) continue;
        if (l.phase % 4 == 3) check_sums(&l);
    }
    check_sums(&l);
    free_ledger(&l);
}

static int handle_variable_item(void* context, const void* data, int bytes) {
    ledger* l = context;
    item one;
    memcpy(&one, data, sizeof one);
    record_item(l, &one);
    const char* rest = data;
    for (int i = sizeof one; i < bytes; ++i)
        if (rest[i] != (char)(one.number + bytes + i)) fail("an item is damaged");
    return 1;
}

static void run_variable(int seed, int rounds) {
    topoloom_stream_options options = draw_options(seed);
    options.bucket_bytes += 240;
    ledger l = make_ledger();
    check_status(topoloom_stream_create(MPI_COMM_WORLD, TOPOLOOM_STREAM_VARIABLE, handle_variable_item, &l,
                                        &options, &l.stream));
    for (; l.phase < rounds; ++l.phase) {
        for (uint32_t i = draw(300); i > 0; --i) {
            char data[sizeof(item) + 180];
            const int target = (int)draw((uint32_t)ranks), bytes = (int)(sizeof(item) + draw(180));
            const item one = make_next_item(&l, target, 0);
            memcpy(data, &one, sizeof one);
            for (int b = sizeof one; b < bytes; ++b) data[b] = (char)(one.number + bytes + b);
            check_status(topoloom_stream_push_bytes(l.stream, data, bytes, target));
        }
        check_status(topoloom_stream_wait(l.stream));
    }
    check_sums(&l);
    free_ledger(&l);
}

static void pull_all(ledger* l) {
    const void* data = NULL;
    int bytes = 0;
    for (;;) {
        check_status(topoloom_stream_pull(l->stream, &data, &bytes));
        if (data == NULL) return;
        if (bytes != sizeof(item)) fail("an item has another size");
        record_item(l, data);
    }
}

static void run_pulled(int seed, int rounds) {
    topoloom_stream_options options = draw_options(seed);
    ledger l = make_ledger();
    check_status(topoloom_stream_create(MPI_COMM_WORLD, sizeof(item), NULL, NULL, &options, &l.stream));
    for (; l.phase < rounds; ++l.phase) {
        for (uint32_t i = draw(500); i > 0; --i) {
            const int target = (int)draw((uint32_t)ranks);
            const item one = make_next_item(&l, target, 0);
            int status;
            while ((status = topoloom_stream_push(l.stream, &one, target)) == TOPOLOOM_STREAM_FULL)
                pull_all(&l);
            check_status(status);
        }
        check_status(topoloom_stream_done(l.stream));
        for (int ended = 0; !ended;) {
            pull_all(&l);
            check_status(topoloom_stream_progress(l.stream, &ended));
        }
    }
    check_sums(&l);
    free_ledger(&l);
}

/// All ranks push to rank 0, which sleeps: buffered items are bounded, and all arrive.
static void run_with_sleeping_receiver(void) {
    enum { items = 50000, bound = 1 << 16 };
    const topoloom_stream_options options = {
        .bucket_bytes = 1024, .memory_bytes = bound, .dimensions = dimensions};
    ledger l = make_ledger();
    check_status(topoloom_stream_create(MPI_COMM_WORLD, sizeof(item), handle_items, &l, &options, &l.stream));
    if (rank == 0) usleep(200000);
    for (int i = 0; i < items && rank > 0; ++i) {
        const item one = make_next_item(&l, 0, 0);
        check_status(topoloom_stream_push(l.stream, &one, 0));
    }
    check_status(topoloom_stream_wait(l.stream));
    check_sums(&l);
    long long now = 0, most = 0;
    check_status(topoloom_stream_get_memory(l.stream, &now, &most));
    if (most > bound) fail("the bound did not hold");
    free_ledger(&l);
}

/// Handlers of requests push replies into another stream, with minimum memory.
static topoloom_stream replies;
static long long answered;

static int send_reply(void* context, const void* items, int count) {
    (void)context;
    const item* one = items;
    for (int i = 0; i < count; ++i) check_status(topoloom_stream_push(replies, &one[i], one[i].source));
    return count;
}

static int handle_reply(void* context, const void* items, int count) {
    (void)context, (void)items;
    answered += count;
    return count;
}

static void run_replies(int seed, int rounds) {
    const topoloom_stream_options options = {
        .bucket_bytes = 64, .memory_bytes = abs(dimensions) * (400 + seed % 100), .dimensions = dimensions};
    topoloom_stream requests;
    check_status(topoloom_stream_create(MPI_COMM_WORLD, sizeof(item), send_reply, NULL, &options, &requests));
    check_status(
        topoloom_stream_create(MPI_COMM_WORLD, sizeof(item), handle_reply, NULL, &options, &replies));
    for (int r = 0; r < rounds; ++r) {
        const uint32_t count = draw(200);
        answered = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const item one = {.source = rank, .number = (int)i};
            check_status(topoloom_stream_push(requests, &one, (int)draw((uint32_t)ranks)));
        }
        check_status(topoloom_stream_wait(requests));
        check_status(topoloom_stream_wait(replies));
        if (answered != count) fail("a request was not answered once");
    }
    long long now = 0, most = 0;
    check_status(topoloom_stream_get_memory(replies, &now, &most));
    if (most > options.memory_bytes) fail("the bound did not hold");
    check_status(topoloom_stream_free(&requests));
    check_status(topoloom_stream_free(&replies));
}

/// Concurrent streams whose phases end in a different order on each rank.
static void run_many_streams(int rounds) {
    enum { streams = 6 };
    const topoloom_stream_options options = {.dimensions = dimensions};
    ledger all[streams];
    for (int s = 0; s < streams; ++s) {
        all[s] = make_ledger();
        check_status(topoloom_stream_create(MPI_COMM_WORLD, sizeof(item), handle_items, &all[s], &options,
                                            &all[s].stream));
    }
    for (int r = 0; r < rounds; ++r) {
        for (uint32_t i = draw(1000); i > 0; --i) {
            ledger* l = &all[draw(streams)];
            const int target = (int)draw((uint32_t)ranks);
            const item one = make_next_item(l, target, (int)draw(3));
            check_status(topoloom_stream_push(l->stream, &one, target));
        }
        for (int s = 0; s < streams; ++s) check_status(topoloom_stream_done(all[s].stream));
        for (int left = streams; left > 0;)
            for (int s = 0; s < streams; ++s) {
                ledger* l = &all[(s + rank) % streams];
                int ended = 0;
                if (l->phase > r) continue;
                check_status(topoloom_stream_progress(l->stream, &ended));
                l->phase += ended;
                left -= ended;
            }
    }
    for (int s = 0; s < streams; ++s) {
        check_sums(&all[s]);
        free_ledger(&all[s]);
    }
}

static void run_case(const char* what, int seed, int rounds) {
    state = (uint64_t)(seed * 1000 + rank + 1);
    stop_every = strcmp(what, "stops") == 0 ? 40 : 0;
    if (strcmp(what, "phases") == 0 || strcmp(what, "stops") == 0)
        run_phases(seed, rounds);
    else if (strcmp(what, "variable") == 0)
        run_variable(seed, rounds);
    else if (strcmp(what, "pulled") == 0)
        run_pulled(seed, rounds);
    else if (strcmp(what, "asleep") == 0)
        run_with_sleeping_receiver();
    else if (strcmp(what, "replies") == 0)
        run_replies(seed, rounds);
    else if (strcmp(what, "many") == 0)
        run_many_streams(rounds);
    else
        fail("there is no such case");
    if (rank == 0) printf("%s: every item came once\n", what);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    dimensions = atoi(argv[3]);
    for (int i = 4; i < argc; ++i) run_case(argv[i], atoi(argv[1]), atoi(argv[2]));
    MPI_Finalize();
    return 0;
}
