// SPDX-License-Identifier: BSD-3-Clause
// Meshes that change from phase to phase: `tuning_cases WAY BUCKET K...`. In phase i, each rank
// pushes K_i items to every other rank. WAY: items are `handled`, `pulled`, or `answered` by a
// second stream that chooses its mesh. Rank 0 prints the settings after each phase.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_stream.h>

typedef struct message {
    int32_t source, target, number, phase;
} message;

static int rank, ranks, phase, k;
static int* next;  // number of the next message, by source
static long long taken;
static topoloom_stream requests, answers;
static int is_answered;

static void fail(const char* what) {
    fprintf(stderr, "tuning_cases: rank %d, phase %d: %s\n", rank, phase, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check_message(const message* one) {
    if (one->target != rank) fail("an item is for another rank");
    if (one->phase != phase) fail("an item comes in another phase");
    if (one->number != next[one->source]++) fail("items are not in order");
    ++taken;
}

static int take(void* context, const void* items, int count) {
    (void)context;
    for (int i = 0; i < count; ++i) check_message((const message*)items + i);
    return count;
}

static int handle_and_answer(void* context, const void* items, int count) {
    (void)context;
    for (int i = 0; i < count; ++i) {
        const message* one = (const message*)items + i;
        const message back = {rank, one->source, one->number, one->phase};
        if (topoloom_stream_push(answers, &back, back.target) != MPI_SUCCESS) fail("an answer is not pushed");
    }
    return count;
}

static void pull_all(void) {
    const void* item = NULL;
    int bytes = 0;
    for (topoloom_stream_pull(requests, &item, &bytes); item != NULL;
         topoloom_stream_pull(requests, &item, &bytes))
        check_message(item);
}

static void run_phase(int is_pulled) {
    for (int i = 0; i < k * (ranks - 1); ++i) {
        const int target = (rank + 1 + i % (ranks - 1)) % ranks;
        const message one = {rank, target, i / (ranks - 1), phase};
        while (topoloom_stream_push(requests, &one, target) == TOPOLOOM_STREAM_FULL) pull_all();
    }
    if (is_pulled) {
        topoloom_stream_done(requests);
        for (int ended = 0; !ended;) {
            pull_all();
            topoloom_stream_progress(requests, &ended);
        }
    } else {
        topoloom_stream_wait(requests);
    }
    if (is_answered) topoloom_stream_wait(answers);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int is_pulled = strcmp(argv[1], "pulled") == 0;
    is_answered = strcmp(argv[1], "answered") == 0;
    const topoloom_stream_options options = {
        .dimensions = TOPOLOOM_STREAM_AUTO, .bucket_bytes = atoi(argv[2]), .alpha = 1.8e-5, .beta = 1.25e-7};
    next = calloc((size_t)ranks, sizeof *next);
    topoloom_stream_create(MPI_COMM_WORLD, sizeof(message),
                           is_pulled     ? NULL
                           : is_answered ? handle_and_answer
                                         : take,
                           NULL, &options, &requests);
    if (is_answered) topoloom_stream_create(MPI_COMM_WORLD, sizeof(message), take, NULL, &options, &answers);
    for (phase = 0; phase < argc - 3; ++phase) {
        k = atoi(argv[3 + phase]);
        taken = 0;
        for (int i = 0; i < ranks; ++i) next[i] = 0;
        run_phase(is_pulled);
        if (taken != (long long)k * (ranks - 1)) fail("items are lost");
        int dimensions = 0, bucket = 0;
        double timeout = 0;
        topoloom_stream_get_settings(is_answered ? answers : requests, &dimensions, &bucket, &timeout);
        const int own[] = {dimensions, -dimensions, bucket, -bucket};
        int most[4];
        MPI_Allreduce(own, most, 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (most[0] != -most[1] || most[2] != -most[3]) fail("ranks have different meshes");
        if (rank == 0) printf("%d: %d dimensions, %d B\n", k, dimensions, bucket);
    }
    topoloom_stream_free(&requests);
    if (is_answered) topoloom_stream_free(&answers);
    free(next);
    MPI_Finalize();
    return 0;
}
