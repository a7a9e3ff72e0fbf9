// SPDX-License-Identifier: BSD-3-Clause
// Makes the communicator that takes the place of MPI_COMM_WORLD, when MPI has been initialized.
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct shim shim = {"world", "TOPOLOOM_WORLD", "ranks are not renumbered", NULL};

MPI_Comm world_renumbered = MPI_COMM_WORLD;

static bool refused_;

static void say_once(const char* why) {
    static bool said;
    if (!said) fprintf(stderr, "topoloom: %s: %s\n", shim.undone, why);
    said = true;
}

void world_refuse(const char* why) {
    refused_ = true;
    if (launched_as_rank_0()) say_once(why);
}

/// On process 0: the planned rank of each process; NULL with a reason if there is none.
static int* planned_ranks(const char* file, const struct testimonies* all, char* why, int room) {
    struct bindings bindings;
    int* ranks = malloc((size_t)all->count * sizeof *ranks);
    snprintf(why, (size_t)room, "not enough memory");
    if (ranks == NULL || all->text == NULL || !bindings_read(file, &bindings, why, room)) {
        free(ranks);
        return NULL;
    }
    const bool matched = world_match(&bindings, all, ranks, why, room);
    bindings_free(&bindings);
    if (matched) return ranks;
    free(ranks);
    return NULL;
}

/// Why the processes keep their numbers, whatever the plan; NULL if they need not. Collective.
static const char* find_obstacle(MPI_Comm comm) {
    int *number = NULL, given = 0, mine[3], most[3];
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &given);
    mine[0] = given ? *number : 0;
    mine[1] = -mine[0];
    mine[2] = refused_;
    PMPI_Allreduce(mine, most, 3, MPI_INT, MPI_MAX, comm);
    if (most[2]) return "the program uses MPI sessions";
    // Several programs know by their rank which of them they are.
    return most[0] == -most[1] ? NULL : "the job runs several programs";
}

/// The planned rank of this process; -1 where all processes keep theirs.
static int find_rank(const char* file, MPI_Comm comm) {
    char why[1024];
    int rank = 0, planned = -1, *ranks = NULL;
    const char* obstacle = find_obstacle(comm);
    struct testimonies all = testimonies_gather(comm);
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0 && obstacle == NULL) {
        ranks = planned_ranks(file, &all, why, sizeof why);
        if (ranks == NULL) obstacle = why;
    }
    if (rank == 0 && obstacle != NULL) say_once(obstacle);
    int go_on = ranks != NULL;
    PMPI_Bcast(&go_on, 1, MPI_INT, 0, comm);
    if (go_on) PMPI_Scatter(ranks, 1, MPI_INT, &planned, 1, MPI_INT, 0, comm);
    free(ranks);
    free(all.text);
    return planned;
}

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
static void free_at_finalize(void) {}  // it leaves the attributes of MPI_COMM_WORLD
#else
static int free_renumbered(MPI_Comm self, int key, void* value, void* state) {
    (void)self, (void)key, (void)value, (void)state;
    MPI_Comm renumbered = world_renumbered;
    const int status = PMPI_Comm_free(&renumbered);
    world_renumbered = MPI_COMM_WORLD;
    return status;
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF, the newest first, and then those of MPI_COMM_WORLD, which the
/// program has set on ours: our attribute, the oldest, has it freed at that moment.
static void free_at_finalize(void) {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_renumbered, &key, NULL);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}
#endif

void seats_start(void) {
    char* file = getenv(shim.variable) == NULL ? NULL : strdup(getenv(shim.variable));
    MPI_Comm parent = MPI_COMM_NULL, own = MPI_COMM_NULL, renumbered = MPI_COMM_NULL;
    MPI_Errhandler handler;
    int rank = -1;
    unsetenv(shim.variable);  // jobs that the program starts itself are not meant
    PMPI_Comm_get_parent(&parent);
    // The plan is not for those who were spawned.
    if (file != NULL && parent == MPI_COMM_NULL && PMPI_Comm_dup(MPI_COMM_WORLD, &own) == MPI_SUCCESS) {
        rank = find_rank(file, own);
        PMPI_Comm_free(&own);
    }
    free(file);
    if (rank < 0 || PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &renumbered) != MPI_SUCCESS) return;
    PMPI_Comm_set_name(renumbered, "MPI_COMM_WORLD");
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    PMPI_Comm_set_errhandler(renumbered, handler);
    PMPI_Errhandler_free(&handler);
    world_renumbered = renumbered;
    free_at_finalize();
}
