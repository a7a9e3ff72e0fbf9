// SPDX-License-Identifier: BSD-3-Clause
// Runs collectives on the first RANKS ranks [all]. If count_ucx.c, count_ofi.c or count_monitored.c
// is preloaded, each rank prints its sent and received messages per collective.
// Usage: one_collective OPERATION[:RANKS]... BYTES
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void call_collective(const char* name, MPI_Comm comm, int bytes, char* in, char* out, int* counts,
                            int* offsets) {
    if (!strcmp(name, "allgather")) MPI_Allgather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, comm);
    if (!strcmp(name, "allgatherv"))
        MPI_Allgatherv(in, bytes, MPI_CHAR, out, counts, offsets, MPI_CHAR, comm);
    if (!strcmp(name, "allreduce")) MPI_Allreduce(in, out, bytes, MPI_CHAR, MPI_BOR, comm);
    if (!strcmp(name, "alltoall")) MPI_Alltoall(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, comm);
    if (!strcmp(name, "alltoallv"))
        MPI_Alltoallv(in, counts, offsets, MPI_CHAR, out, counts, offsets, MPI_CHAR, comm);
    if (!strcmp(name, "barrier")) MPI_Barrier(comm);
    if (!strcmp(name, "bcast")) MPI_Bcast(in, bytes, MPI_CHAR, 0, comm);
    if (!strcmp(name, "exscan")) MPI_Exscan(in, out, bytes, MPI_CHAR, MPI_BOR, comm);
    if (!strcmp(name, "gather")) MPI_Gather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, 0, comm);
    if (!strcmp(name, "reduce")) MPI_Reduce(in, out, bytes, MPI_CHAR, MPI_BOR, 0, comm);
    if (!strcmp(name, "reduce_scatter")) MPI_Reduce_scatter(in, out, counts, MPI_CHAR, MPI_BOR, comm);
    if (!strcmp(name, "reduce_scatter_block"))
        MPI_Reduce_scatter_block(in, out, bytes, MPI_CHAR, MPI_BOR, comm);
    if (!strcmp(name, "scan")) MPI_Scan(in, out, bytes, MPI_CHAR, MPI_BOR, comm);
    if (!strcmp(name, "scatter")) MPI_Scatter(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, 0, comm);
}

enum { MOST_RANKS = 64 };

// Optional functions of a preloaded library: messages sent and received so far, or messages sent to
// each world rank.
static void (*counted)(long*, long*);
static void (*sent_to)(long*);

static void count_messages(long sent[MOST_RANKS], long* received) {
    if (counted) counted(&sent[0], received);
    if (sent_to) sent_to(sent);
}

static void count_collective(const char* words, const char* name, MPI_Comm comm, int bytes, char* in,
                             char* out, int* counts, int* offsets) {
    long before[MOST_RANKS] = {0}, after[MOST_RANKS] = {0}, received_before = 0, received = 0, sent = 0;
    int rank;
    MPI_Comm_rank(comm, &rank);
    count_messages(before, &received_before);
    call_collective(name, comm, bytes, in, out, counts, offsets);
    if (!counted && !sent_to) return;
    count_messages(after, &received);
    received -= received_before;
    for (int peer = 0; peer < MOST_RANKS; ++peer) sent += after[peer] -= before[peer];
    if (sent_to) MPI_Reduce_scatter_block(after, &received, 1, MPI_LONG, MPI_SUM, comm);
    char line[80];
    snprintf(line, sizeof line, "%s: rank %d sent %ld received %ld\n", words, rank, sent, received);
    fputs(line, stdout);
    fflush(stdout);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int bytes = atoi(argv[argc - 1]);
    char *in = calloc((size_t)bytes + 1, (size_t)ranks), *out = calloc((size_t)bytes + 1, (size_t)ranks);
    int *counts = calloc((size_t)ranks, sizeof *counts), *offsets = calloc((size_t)ranks, sizeof *offsets);
    for (int peer = 0; peer < ranks; ++peer) {
        counts[peer] = bytes;
        offsets[peer] = peer * bytes;
    }
    counted = (void (*)(long*, long*))dlsym(RTLD_DEFAULT, "messages_counted");
    sent_to = (void (*)(long*))dlsym(RTLD_DEFAULT, "messages_sent_to");
    for (int i = 1; i < argc - 1; ++i) {
        char name[80];
        int some = ranks;
        sscanf(argv[i], "%79[^:]:%d", name, &some);
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, rank, &comm);
        if (comm == MPI_COMM_NULL) continue;
        count_collective(argv[i], name, comm, bytes, in, out, counts, offsets);
        MPI_Comm_free(&comm);
    }
    free(in);
    free(out);
    free(counts);
    free(offsets);
    MPI_Finalize();
    return 0;
}
