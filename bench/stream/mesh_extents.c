// SPDX-License-Identifier: BSD-3-Clause
// Seconds per message of single messages, streams and mesh streams: `mesh_extents PATTERN K BUCKET
// DIMENSIONS...`. PATTERN is ring or alltoall, with K messages per pair.
// DIMENSIONS: 0 for single messages; negative for a mesh in rank order; positive for a mesh aligned with
// nodes; extents such as 4x8x16 for a mesh in the order of node positions; auto for a mesh that is chosen
// after a phase.
// Rank 0 prints JSON: time until the last message is delivered on any rank, and until all ranks detect the
// end.
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_stream.h>
#include <unistd.h>

typedef struct message {
    int32_t source, number, target, pad;
} message;

static int rank, ranks;
static int targets;  // targets per rank: one (the next rank), or all other ranks
static long long taken;
static double last;  // time of the last delivery on this rank

static void check_message(const message* one) {
    if (one->target != rank || one->number != 7 * one->source + one->target) {
        fprintf(stderr, "mesh_extents: a message is not what was sent\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    ++taken;
}

static int handle_items(void* context, const void* items, int count) {
    (void)context;
    for (int i = 0; i < count; ++i) check_message((const message*)items + i);
    last = MPI_Wtime();
    return count;
}

/// Returns message i of a round; ranks begin with different targets.
static message make_message(int i) {
    const int target = (rank + 1 + i) % ranks;
    return (message){rank, 7 * rank + target, target, 0};
}

static void send_one_by_one(int k) {
    const int count = k * targets;
    MPI_Request* requests = malloc(2 * (size_t)count * sizeof *requests);
    message* sent = malloc(2 * (size_t)count * sizeof *sent);
    message* received = sent + count;
    for (int i = 0; i < count; ++i) {
        const int source = (rank - 1 - i % targets + ranks) % ranks;
        MPI_Irecv(&received[i], sizeof *received, MPI_BYTE, source, 0, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < count; ++i) {
        sent[i] = make_message(i % targets);
        MPI_Isend(&sent[i], sizeof *sent, MPI_BYTE, sent[i].target, 0, MPI_COMM_WORLD, &requests[count + i]);
    }
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i) check_message(&received[i]);
    last = MPI_Wtime();
    free(sent);
    free(requests);
}

static void send_by_stream(topoloom_stream stream, int k) {
    for (int i = 0; i < k * targets; ++i) {
        const message one = make_message(i % targets);
        topoloom_stream_push(stream, &one, one.target);
    }
    topoloom_stream_wait(stream);
}

/// Starts all ranks at the same time: simulated clocks are synchronized, but ranks leave a barrier one by
/// one.
static double wait_for_all_ranks(void) {
    const double margin = 1e-3;
    double now = MPI_Wtime(), begin = 0;
    MPI_Allreduce(&now, &begin, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    begin += margin;
    usleep((useconds_t)(1e6 * (begin - MPI_Wtime())));
    return begin;
}

struct place {
    int host, rank;
};

static int compare_hosts(const void* a, const void* b) {
    const struct place *left = a, *right = b;
    return left->host != right->host ? left->host - right->host : left->rank - right->rank;
}

/// Returns ranks sorted by the number in their host's name, which is the position in the machine.
static int* number_ranks_by_place(void) {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(name, &length);
    const struct place own = {atoi(name + strcspn(name, "0123456789")), rank};
    struct place* all = malloc((size_t)ranks * sizeof *all);
    MPI_Allgather(&own, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
    qsort(all, (size_t)ranks, sizeof *all, compare_hosts);
    int* numbered = malloc((size_t)ranks * sizeof *numbered);
    for (int i = 0; i < ranks; ++i) numbered[i] = all[i].rank;
    free(all);
    return numbered;
}

static int* number_ranks_by_rank(void) {
    int* numbered = malloc((size_t)ranks * sizeof *numbered);
    for (int i = 0; i < ranks; ++i) numbered[i] = i;
    return numbered;
}

enum { chosen = 100 };  // a method; other arguments are numbers of dimensions

static void measure(const char* pattern, int k, int bucket, const char* shape) {
    int extents[4];
    const int given = sscanf(shape, "%dx%dx%dx%d", &extents[0], &extents[1], &extents[2], &extents[3]);
    const bool is_by_place = given > 1;
    const int way = strcmp(shape, "auto") == 0 ? chosen : is_by_place ? given : atoi(shape);
    const int dimensions = way == chosen ? TOPOLOOM_STREAM_AUTO : abs(way);
    int* numbered = is_by_place ? number_ranks_by_place() : number_ranks_by_rank();
    const topoloom_stream_options options = {
        .bucket_bytes = 16 + bucket * (int)(sizeof(message) + (dimensions == 1 ? 0 : 4)),
        .dimensions = dimensions,
        .extents = is_by_place ? extents : NULL,
        .order = way < 0 || is_by_place ? numbered : NULL};
    topoloom_stream stream = NULL;
    if (dimensions != 0)
        topoloom_stream_create(MPI_COMM_WORLD, sizeof(message), handle_items, NULL, &options, &stream);
    if (way == chosen) send_by_stream(stream, k);
    taken = 0;
    const double begin = wait_for_all_ranks();
    if (dimensions != 0)
        send_by_stream(stream, k);
    else
        send_one_by_one(k);
    const double spent[] = {last - begin, MPI_Wtime() - begin};
    double most[2];
    MPI_Reduce(spent, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (taken != (long long)k * targets) MPI_Abort(MPI_COMM_WORLD, 1);
    int used = dimensions, bytes = 0;
    double timeout = 0;
    if (dimensions != 0) topoloom_stream_get_settings(stream, &used, &bytes, &timeout);
    if (rank == 0)
        printf(
            "{\"pattern\": \"%s\", \"k\": %d, \"bucket\": %d, \"dimensions\": %d, \"seconds\": %.9f, "
            "\"end\": %.9f}\n",
            pattern, k, bucket, used, most[0] / (k * targets), most[1] / (k * targets));
    fflush(stdout);
    free(numbered);
    if (dimensions != 0) topoloom_stream_free(&stream);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 5 || ranks < 2) {
        if (rank == 0)
            fprintf(stderr, "mesh_extents: PATTERN K BUCKET DIMENSIONS..., on two ranks or more\n");
        MPI_Finalize();
        return 2;
    }
    targets = strcmp(argv[1], "ring") == 0 ? 1 : ranks - 1;
    for (int i = 4; i < argc; ++i) measure(argv[1], atoi(argv[2]), atoi(argv[3]), argv[i]);
    MPI_Finalize();
    return 0;
}
