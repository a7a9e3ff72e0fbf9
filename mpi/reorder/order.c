// SPDX-License-Identifier: BSD-3-Clause
// From the lists that each rank has of its own neighbors to its rank in a better order.
//
// Each rank sends where it is and how long its list is, then its list, to rank 0, and gets one number back.
// Outside rank 0 this takes 152 bytes and 16 for each neighbor. Rank 0 receives two messages per rank; all
// else takes O(log ranks) steps.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "reorder.h"

enum { stay = -1 };                      // instead of a new rank
enum { bad_peer = -2, no_memory = -1 };  // instead of a count

struct introduction {
    struct location location;
    int64_t count;
};

/// All that rank 0 holds; all NULL elsewhere.
struct collected {
    struct introduction* introductions;
    struct location* locations;
    int64_t* counts;
    int *sizes, *offsets, *new_rank;
    int64_t (*neighbors)[2];
};

static bool collect_room(struct collected* all, int ranks) {
    const size_t count = (size_t)ranks;
    all->introductions = calloc(count, sizeof *all->introductions);
    all->locations = malloc(count * sizeof *all->locations);
    all->counts = malloc(count * sizeof *all->counts);
    all->sizes = malloc(count * sizeof *all->sizes);
    all->offsets = malloc(count * sizeof *all->offsets);
    all->new_rank = malloc(count * sizeof *all->new_rank);
    return all->introductions != NULL && all->locations != NULL && all->counts != NULL &&
           all->sizes != NULL && all->offsets != NULL && all->new_rank != NULL;
}

static void free_collected(struct collected* all) {
    free(all->introductions);
    free(all->locations);
    free(all->counts);
    free(all->sizes);
    free(all->offsets);
    free(all->new_rank);
    free(all->neighbors);
}

static int64_t checked_count(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[]) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    for (int64_t i = 0; i < count; ++i) {
        const bool is_rank = peers[i] == MPI_PROC_NULL || (peers[i] >= 0 && peers[i] < ranks);
        if (!is_rank || (bytes != NULL && bytes[i] < 0)) return bad_peer;
    }
    return count;
}

/// Whether there is something to gather; on rank 0 the room for it.
static bool prepare(struct collected* all, int ranks, char* why, size_t why_size) {
    int64_t total = 0;
    for (int r = 0; r < ranks; ++r) {
        all->locations[r] = all->introductions[r].location;
        const int64_t count = all->counts[r] = all->introductions[r].count;
        if (count < 0) {
            snprintf(why, why_size,
                     count == no_memory ? "rank %d has not enough memory"
                                        : "rank %d names a rank that there is not, or negative bytes",
                     r);
            return false;
        }
        all->offsets[r] = (int)total;
        all->sizes[r] = (int)count;
        total += count;
        if (total > INT32_MAX) {
            snprintf(why, why_size, "there are more than 2^31 messages");
            return false;
        }
    }
    if (total == 0) return false;
    all->neighbors = malloc((size_t)total * sizeof *all->neighbors);
    if (all->neighbors == NULL) snprintf(why, why_size, "not enough memory");
    return all->neighbors != NULL;
}

/// Leaves the cores to rank 0, whose search uses them.
static void wait_asleep(MPI_Request* request) {
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
        const bool nobody = peers[i] == MPI_PROC_NULL;
        mine[i][0] = nobody ? rank : peers[i];
        mine[i][1] = nobody ? 0 : bytes == NULL ? 1 : bytes[i];
    }
    PMPI_Gatherv(mine, (int)count, pair, all->neighbors, all->sizes, all->offsets, pair, 0, comm);
    PMPI_Type_free(&pair);
}

/// What each process gets: its new rank, or to stay.
static void choose(struct collected* all, int ranks, const char* options, struct tally* worth, char* why,
                   size_t why_size) {
    const struct gathered job = {ranks, all->locations, all->counts, all->neighbors};
    const enum outcome outcome = map_ranks(&job, options, all->new_rank, worth, why, why_size);
    if (outcome != failed) why[0] = '\0';
    for (int p = 0; outcome != reordered && p < ranks; ++p) all->new_rank[p] = stay;
}

int better_rank(MPI_Comm comm, int64_t count, const int peers[], const int64_t bytes[], const char* options,
                struct tally* worth) {
    int rank = 0, ranks = 0, new_rank = stay;
    char why[512] = "";
    struct collected all = {0};
    struct introduction me;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    *worth = (struct tally){.topologies = rank == 0};
    count = checked_count(comm, count, peers, bytes);
    int64_t (*mine)[2] = count < 0 ? NULL : malloc((size_t)(count + 1) * sizeof *mine);
    find_location(&me.location);
    me.count = count >= 0 && mine == NULL ? no_memory : count;
    int go_on = rank != 0 || collect_room(&all, ranks);
    if (!go_on) snprintf(why, sizeof why, "not enough memory");
    PMPI_Bcast(&go_on, 1, MPI_INT, 0, comm);
    if (go_on) {
        PMPI_Gather(&me, sizeof me, MPI_BYTE, all.introductions, sizeof me, MPI_BYTE, 0, comm);
        if (rank == 0) go_on = prepare(&all, ranks, why, sizeof why);
        PMPI_Bcast(&go_on, 1, MPI_INT, 0, comm);
    }
    if (go_on) {
        gather_lists(comm, count, peers, bytes, &all, mine);
        if (rank == 0) choose(&all, ranks, options, worth, why, sizeof why);
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Iscatter(all.new_rank, 1, MPI_INT, &new_rank, 1, MPI_INT, 0, comm, &request);
        wait_asleep(&request);
    }
    worth->failed = why[0] != '\0';
    if (worth->failed) say_not_reordered(why);
    free_collected(&all);
    free(mine);
    return new_rank;
}
