// SPDX-License-Identifier: BSD-3-Clause
// Gathers the neighbor lists of all ranks, and scatters their ranks in a better order.
//
// Each rank sends its location and the length of its list, then the list, to rank 0, and receives one number. This takes
// 152 bytes per rank and 16 per neighbor. Rank 0 receives two messages per rank; all else takes O(log ranks) steps.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "reorder.h"

enum { keep_rank = -1 };                 // instead of a new rank
enum { bad_peer = -2, no_memory = -1 };  // instead of a count

struct process_info {
    struct location location;
    int64_t count;
};

/// Gathered on rank 0; all NULL elsewhere.
struct collected {
    struct process_info* infos;
    struct location* locations;
    int64_t* counts;
    int *sizes, *offsets, *new_rank;
    int64_t (*neighbors)[2];
};

static bool allocate_collected(struct collected* all, int ranks) {
    const size_t count = (size_t)ranks;
    all->infos = calloc(count, sizeof *all->infos);
    all->locations = malloc(count * sizeof *all->locations);
    all->counts = malloc(count * sizeof *all->counts);
    all->sizes = malloc(count * sizeof *all->sizes);
    all->offsets = malloc(count * sizeof *all->offsets);
    all->new_rank = malloc(count * sizeof *all->new_rank);
    return all->infos != NULL && all->locations != NULL && all->counts != NULL && all->sizes != NULL &&
           all->offsets != NULL && all->new_rank != NULL;
}

static void free_collected(struct collected* all) {
    free(all->infos);
    free(all->locations);
    free(all->counts);
    free(all->sizes);
    free(all->offsets);
    free(all->new_rank);
    free(all->neighbors);
}

static int64_t check_list(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[]) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    for (int64_t i = 0; i < count; ++i) {
        const bool is_rank = peers[i] == MPI_PROC_NULL || (peers[i] >= 0 && peers[i] < ranks);
        if (!is_rank || (bytes != NULL && bytes[i] < 0)) return bad_peer;
    }
    return count;
}

/// On rank 0: checks the lengths and allocates the lists; false if there is nothing to gather.
static bool prepare_lists(struct collected* all, int ranks, char* error, size_t error_size) {
    int64_t total = 0;
    for (int r = 0; r < ranks; ++r) {
        all->locations[r] = all->infos[r].location;
        const int64_t count = all->counts[r] = all->infos[r].count;
        if (count < 0) {
            snprintf(error, error_size,
                     count == no_memory ? "rank %d has not enough memory"
                                        : "rank %d has a peer outside the communicator, or negative bytes",
                     r);
            return false;
        }
        all->offsets[r] = (int)total;
        all->sizes[r] = (int)count;
        total += count;
        if (total > INT32_MAX) {
            snprintf(error, error_size, "there are more than 2^31 messages");
            return false;
        }
    }
    if (total == 0) return false;
    all->neighbors = malloc((size_t)total * sizeof *all->neighbors);
    if (all->neighbors == NULL) snprintf(error, error_size, "not enough memory");
    return all->neighbors != NULL;
}

/// Sleeps between tests, to leave the cores to the search of rank 0.
static void sleep_until_complete(MPI_Request* request) {
    int done = 0;
    for (long pause = 20000;; pause = pause < 1000000 ? 2 * pause : pause) {
        if (PMPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done) return;
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
}

static void gather_lists(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[],
                         struct collected* all, int64_t (*mine)[2]) {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(2, MPI_INT64_T, &pair);
    PMPI_Type_commit(&pair);
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    for (int64_t i = 0; i < count; ++i) {
        const bool is_null = peers[i] == MPI_PROC_NULL;
        mine[i][0] = is_null ? rank : peers[i];
        mine[i][1] = is_null ? 0 : bytes == NULL ? 1 : bytes[i];
    }
    PMPI_Gatherv(mine, (int)count, pair, all->neighbors, all->sizes, all->offsets, pair, 0, comm);
    PMPI_Type_free(&pair);
}

/// Fills new_rank[p], keep_rank for all unless they are reordered.
static void choose_ranks(struct collected* all, int ranks, const char* options, struct reorder_stats* stats,
                         char* error, size_t error_size) {
    const struct gathered job = {ranks, all->locations, all->counts, all->neighbors};
    const enum outcome outcome = map_ranks(&job, options, all->new_rank, stats, error, error_size);
    if (outcome != failed) error[0] = '\0';
    for (int p = 0; outcome != reordered && p < ranks; ++p) all->new_rank[p] = keep_rank;
}

int find_better_rank(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[],
                     const char* options, struct reorder_stats* stats) {
    int rank = 0, ranks = 0, new_rank = keep_rank;
    char error[512] = "";
    struct collected all = {0};
    struct process_info me;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    *stats = (struct reorder_stats){.topologies = rank == 0};
    count = check_list(comm, count, peers, bytes);
    int64_t (*mine)[2] = count < 0 ? NULL : malloc((size_t)(count + 1) * sizeof *mine);
    find_location(&me.location);
    me.count = count >= 0 && mine == NULL ? no_memory : count;
    int proceed = rank != 0 || allocate_collected(&all, ranks);
    if (!proceed) snprintf(error, sizeof error, "not enough memory");
    PMPI_Bcast(&proceed, 1, MPI_INT, 0, comm);
    if (proceed) {
        PMPI_Gather(&me, sizeof me, MPI_BYTE, all.infos, sizeof me, MPI_BYTE, 0, comm);
        if (rank == 0) proceed = prepare_lists(&all, ranks, error, sizeof error);
        PMPI_Bcast(&proceed, 1, MPI_INT, 0, comm);
    }
    if (proceed) {
        gather_lists(comm, count, peers, bytes, &all, mine);
        if (rank == 0) choose_ranks(&all, ranks, options, stats, error, sizeof error);
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Iscatter(all.new_rank, 1, MPI_INT, &new_rank, 1, MPI_INT, 0, comm, &request);
        sleep_until_complete(&request);
    }
    stats->failed = error[0] != '\0';
    if (stats->failed) warn_not_reordered(error);
    free_collected(&all);
    free(mine);
    return new_rank;
}
