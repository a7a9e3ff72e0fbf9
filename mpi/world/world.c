// SPDX-License-Identifier: BSD-3-Clause
// Makes the communicator that takes the place of MPI_COMM_WORLD, when MPI has been initialized.
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

const struct shim shim = {"world", "TOPOLOOM_WORLD", "ranks are not renumbered"};

MPI_Comm world_renumbered = MPI_COMM_WORLD;

static bool refused_;

void world_refuse(const char* why) {
    if (refused_ || getenv(shim.variable) == NULL) return;
    refused_ = true;
    if (launched_as_rank_0()) fprintf(stderr, "topoloom: %s: %s\n", shim.undone, why);
}

/// On process 0: the planned rank of each process; NULL with a reason if there is none.
static int* planned_ranks(const char* file, const struct testimonies* all, char* why, int room) {
    struct plan plan;
    int* ranks = malloc((size_t)all->count * sizeof *ranks);
    snprintf(why, (size_t)room, "not enough memory");
    if (ranks == NULL || all->text == NULL || !plan_read(file, &plan, why, room)) {
        free(ranks);
        return NULL;
    }
    const bool matched = world_match(&plan, all, ranks, why, room);
    plan_free(&plan);
    if (matched) return ranks;
    free(ranks);
    return NULL;
}

/// Several programs in one job know by their rank which of them they are.
static bool is_one_program(MPI_Comm comm) {
    int *number = NULL, given = 0, range[2], widest[2];
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &given);
    range[0] = given ? *number : 0;
    range[1] = -range[0];
    PMPI_Allreduce(range, widest, 2, MPI_INT, MPI_MAX, comm);
    return widest[0] == -widest[1];
}

/// The planned rank of this process; -1 where all processes keep theirs.
static int find_rank(const char* file, MPI_Comm comm) {
    char why[1024] = "the job runs several programs";
    int rank = 0, planned = -1, *ranks = NULL;
    const bool one_program = is_one_program(comm);
    struct testimonies all = testimonies_gather(comm);
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        if (one_program) ranks = planned_ranks(file, &all, why, sizeof why);
        if (ranks == NULL) fprintf(stderr, "topoloom: %s: %s\n", shim.undone, why);
    }
    int go_on = ranks != NULL;
    PMPI_Bcast(&go_on, 1, MPI_INT, 0, comm);
    if (go_on) PMPI_Scatter(ranks, 1, MPI_INT, &planned, 1, MPI_INT, 0, comm);
    free(ranks);
    free(all.text);
    return planned;
}

void seats_start(void) {
    const char* file = getenv(shim.variable);
    MPI_Comm parent = MPI_COMM_NULL, own = MPI_COMM_NULL, renumbered = MPI_COMM_NULL;
    MPI_Errhandler handler;
    if (file == NULL || refused_) return;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return;  // the plan is not for those who were spawned
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &own) != MPI_SUCCESS) return;
    const int rank = find_rank(file, own);
    PMPI_Comm_free(&own);
    if (rank < 0 || PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &renumbered) != MPI_SUCCESS) return;
    PMPI_Comm_set_name(renumbered, "MPI_COMM_WORLD");
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    PMPI_Comm_set_errhandler(renumbered, handler);
    PMPI_Errhandler_free(&handler);
    world_renumbered = renumbered;
}
