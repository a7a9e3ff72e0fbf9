// SPDX-License-Identifier: BSD-3-Clause
// Gathers the neighbor lists of all ranks on rank 0, and scatters the ranks of a better order.
//
// Each rank sends its location, the length of its list, and the list to rank 0, and receives one number. This takes 152
// bytes per rank and 16 bytes per neighbor. Rank 0 receives two messages per rank; all other steps take O(log ranks)
// messages.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "reorder.h"

enum { keep_rank = -1 };                     // special value in place of a new rank
enum { invalid_peer = -2, no_memory = -1 };  // special values in place of a count

struct process_info {
    struct location location;
    int64_t count;
};

/// Data gathered on rank 0; all pointers are NULL on other ranks.
struct gathered_data {
    struct process_info* infos;
    struct location* locations;
    int64_t* counts;
    int *sizes, *offsets, *new_rank;
    int64_t (*neighbors)[2];
};

static bool allocate_gathered_data(struct gathered_data* all, int ranks) {
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

static void free_gathered_data(struct gathered_data* all) {
    free(all->infos);
    free(all->locations);
    free(all->counts);
    free(all->sizes);
    free(all->offsets);
    free(all->new_rank);
    free(all->neighbors);
}

static int64_t check_neighbor_list(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[]) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    for (int64_t i = 0; i < count; ++i) {
        const bool is_rank = peers[i] == MPI_PROC_NULL || (peers[i] >= 0 && peers[i] < ranks);
        if (!is_rank || (bytes != NULL && bytes[i] < 0)) return invalid_peer;
    }
    return count;
}

/// Checks the lengths and allocates the lists, on rank 0. Returns false if all lists are empty or a list is invalid, or
/// if memory is exhausted.
static bool allocate_neighbor_lists(struct gathered_data* all, int ranks, char* error, size_t error_size) {
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

/// Waits for a request. Sleeps between tests, to leave the cores to the search on rank 0.
static void sleep_until_complete(MPI_Request* request) {
    int done = 0;
    for (long pause = 20000;; pause = pause < 1000000 ? 2 * pause : pause) {
        if (PMPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done) return;
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
}

static void gather_lists(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[],
                         struct gathered_data* all, int64_t (*own_list)[2]) {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(2, MPI_INT64_T, &pair);
    PMPI_Type_commit(&pair);
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    for (int64_t i = 0; i < count; ++i) {
        const bool is_null = peers[i] == MPI_PROC_NULL;
        own_list[i][0] = is_null ? rank : peers[i];
        own_list[i][1] = is_null ? 0 : bytes == NULL ? 1 : bytes[i];
    }
    PMPI_Gatherv(own_list, (int)count, pair, all->neighbors, all->sizes, all->offsets, pair, 0, comm);
    PMPI_Type_free(&pair);
}

/// Fills new_rank[p]: keep_rank for all processes if they are not reordered.
static void choose_ranks(struct gathered_data* all, int ranks, const char* options,
                         struct reorder_stats* stats, char* error, size_t error_size) {
    const struct gathered_lists job = {ranks, all->locations, all->counts, all->neighbors};
    const enum order_outcome order_outcome =
        compute_new_ranks(&job, options, all->new_rank, stats, error, error_size);
    if (order_outcome != failed) error[0] = '\0';
    for (int p = 0; order_outcome != reordered && p < ranks; ++p) all->new_rank[p] = keep_rank;
}

int find_better_rank(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[],
                     const char* options, struct reorder_stats* stats) {
    int rank = 0, ranks = 0, new_rank = keep_rank;
    char error[512] = "";
    struct gathered_data all = {0};
    struct process_info own_info;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    *stats = (struct reorder_stats){.topologies = rank == 0};
    count = check_neighbor_list(comm, count, peers, bytes);
    int64_t (*own_list)[2] = count < 0 ? NULL : malloc((size_t)(count + 1) * sizeof *own_list);
    find_location(&own_info.location);
    own_info.count = count >= 0 && own_list == NULL ? no_memory : count;
    int proceed = rank != 0 || allocate_gathered_data(&all, ranks);
    if (!proceed) snprintf(error, sizeof error, "not enough memory");
    PMPI_Bcast(&proceed, 1, MPI_INT, 0, comm);
    if (proceed) {
        PMPI_Gather(&own_info, sizeof own_info, MPI_BYTE, all.infos, sizeof own_info, MPI_BYTE, 0, comm);
        if (rank == 0) proceed = allocate_neighbor_lists(&all, ranks, error, sizeof error);
        PMPI_Bcast(&proceed, 1, MPI_INT, 0, comm);
    }
    if (proceed) {
        gather_lists(comm, count, peers, bytes, &all, own_list);
        if (rank == 0) choose_ranks(&all, ranks, options, stats, error, sizeof error);
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Iscatter(all.new_rank, 1, MPI_INT, &new_rank, 1, MPI_INT, 0, comm, &request);
        sleep_until_complete(&request);
    }
    stats->failed = error[0] != '\0';
    if (stats->failed) print_not_reordered(error);
    free_gathered_data(&all);
    free(own_list);
    return new_rank;
}
