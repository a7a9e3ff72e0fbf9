// SPDX-License-Identifier: BSD-3-Clause
// Runs concurrent collectives of several threads, and collectives without MPI_Test calls. Prints the number of
// wrong results.
// Usage: threads at-once THREADS CALLS | threads unseen CALLS | threads fresh COMMUNICATORS
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_collective.h>

enum { most_units = 300 };

static int world_rank, world_ranks;

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int calls;
    unsigned seed;  // seed, equal on all ranks
    int wrong;
};

static int compute_value(int from, int to, int call) { return from * 1000003 + to * 1009 + call; }

static int check_alltoall(MPI_Comm comm, int units, int call, int form) {
    const size_t room = (size_t)world_ranks * (size_t)units;
    int *in = malloc(room * sizeof *in), *out = malloc(room * sizeof *out), wrong = 0;
    for (size_t i = 0; i < room; ++i) in[i] = compute_value(world_rank, (int)(i / (size_t)units), call);
    topoloom_request request;
    if (form == 0) {
        topoloom_alltoall(in, units, MPI_INT, out, units, MPI_INT, comm);
    } else if (form == 1) {
        topoloom_ialltoall(in, units, MPI_INT, out, units, MPI_INT, comm, &request);
        topoloom_wait(&request, MPI_STATUS_IGNORE);
    } else {
        topoloom_alltoall_init(in, units, MPI_INT, out, units, MPI_INT, comm, MPI_INFO_NULL, &request);
        topoloom_start(&request);
        for (int done = 0; !done;) topoloom_test(&request, &done, MPI_STATUS_IGNORE);
        topoloom_request_free(&request);
    }
    for (size_t i = 0; i < room; ++i)
        wrong += out[i] != compute_value((int)(i / (size_t)units), world_rank, call);
    free(in);
    free(out);
    return wrong > 0;
}

static int check_allreduce(MPI_Comm comm, int units, int call, int form) {
    int *in = malloc((size_t)units * sizeof *in), *out = malloc((size_t)units * sizeof *out), wrong = 0;
    for (int i = 0; i < units; ++i) in[i] = world_rank + i + call;
    if (form == 0) {
        topoloom_allreduce(in, out, units, MPI_INT, MPI_SUM, comm);
    } else {
        topoloom_request request;
        topoloom_iallreduce(in, out, units, MPI_INT, MPI_SUM, comm, &request);
        topoloom_wait(&request, MPI_STATUS_IGNORE);
    }
    const int ranks = world_ranks * (world_ranks - 1) / 2;
    for (int i = 0; i < units; ++i) wrong += out[i] != ranks + world_ranks * (i + call);
    free(in);
    free(out);
    return wrong > 0;
}

static void* run_random_calls(void* given) {
    struct worker* worker = given;
    for (int call = 0; call < worker->calls; ++call) {
        const int drawn = rand_r(&worker->seed), units = 1 + rand_r(&worker->seed) % most_units;
        worker->wrong += drawn % 2 ? check_allreduce(worker->comm, units, call, drawn / 2 % 2)
                                   : check_alltoall(worker->comm, units, call, drawn / 2 % 3);
    }
    return NULL;
}

static int run_concurrent_threads(int threads, int calls) {
    struct worker* workers = calloc((size_t)threads, sizeof *workers);
    int wrong = 0;
    for (int t = 0; t < threads; ++t) {
        workers[t].calls = calls;
        workers[t].seed = (unsigned)t + 1;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].comm);
    }
    for (int t = 0; t < threads; ++t) pthread_create(&workers[t].thread, NULL, run_random_calls, &workers[t]);
    for (int t = 0; t < threads; ++t) {
        pthread_join(workers[t].thread, NULL);
        wrong += workers[t].wrong;
        MPI_Comm_free(&workers[t].comm);
    }
    free(workers);
    return wrong;
}

/// The first half of the ranks blocks in MPI_Recv until the second half has completed the
/// collective. The collective therefore has to progress without MPI_Test calls.
static int wait_without_tests(int calls) {
    enum { units = 64 };
    int wrong = 0;
    const int waits = world_rank < world_ranks / 2, pairs = world_ranks / 2;
    int *in = malloc((size_t)world_ranks * units * sizeof *in),
        *out = malloc((size_t)world_ranks * units * sizeof *out);
    topoloom_barrier(MPI_COMM_WORLD);
    for (int call = 0; call < calls; ++call) {
        for (int i = 0; i < world_ranks * units; ++i) in[i] = compute_value(world_rank, i / units, call);
        topoloom_request request;
        topoloom_ialltoall(in, units, MPI_INT, out, units, MPI_INT, MPI_COMM_WORLD, &request);
        if (waits) MPI_Recv(NULL, 0, MPI_INT, world_rank + pairs, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        topoloom_wait(&request, MPI_STATUS_IGNORE);
        if (!waits && world_rank < 2 * pairs)
            MPI_Send(NULL, 0, MPI_INT, world_rank - pairs, 0, MPI_COMM_WORLD);
        for (int i = 0; i < world_ranks * units; ++i)
            wrong += out[i] != compute_value(i / units, world_rank, call);
    }
    free(in);
    free(out);
    return wrong;
}

/// Lets the progress thread set a communicator up while the program frees it, or sets it up by
/// another call.
static int set_up_concurrently(int communicators) {
    int wrong = 0;
    for (int i = 0; i < communicators; ++i) {
        int one = 1, sum = 0, started = 0;
        MPI_Comm comm;
        topoloom_request request, made = TOPOLOOM_REQUEST_NULL;
        const char* schedule = NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        topoloom_iallreduce(&one, &started, 1, MPI_INT, MPI_SUM, comm, &request);
        if (i % 4 == 0) topoloom_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (i % 4 == 1) topoloom_barrier_init(comm, MPI_INFO_NULL, &made);
        if (i % 4 == 2) topoloom_schedule_of(comm, "barrier", 0, &schedule);
        if (i % 4 == 3) MPI_Comm_free(&comm);
        topoloom_wait(&request, MPI_STATUS_IGNORE);
        if (i % 4 == 1) topoloom_request_free(&made);
        if (i % 4 < 3) MPI_Comm_free(&comm);
        wrong += started != world_ranks || (i % 4 == 0 && sum != world_ranks);
    }
    return wrong;
}

int main(int argc, char** argv) {
    int level, all = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    if (level != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
    const int count = atoi(argv[2]);
    const int wrong = strcmp(argv[1], "unseen") == 0  ? wait_without_tests(count)
                      : strcmp(argv[1], "fresh") == 0 ? set_up_concurrently(count)
                                                      : run_concurrent_threads(count, atoi(argv[3]));
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0) printf("%d wrong\n", all);
    MPI_Finalize();
    return 0;
}
