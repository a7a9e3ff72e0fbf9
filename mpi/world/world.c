// SPDX-License-Identifier: BSD-3-Clause
// After MPI_Init, creates the communicator that replaces MPI_COMM_WORLD.
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wait_for_ranks.h"

const struct shim world_shim = {"world", "TOPOLOOM_WORLD", "ranks are not renumbered", NULL};

MPI_Comm world_renumbered = MPI_COMM_WORLD;

static bool is_disabled_;

static void print_reason_once(const char* reason) {
    static bool printed;
    if (!printed) fprintf(stderr, "topoloom: %s: %s\n", world_shim.undone, reason);
    printed = true;
}

void disable_renumbering(const char* reason) {
    is_disabled_ = true;
    if (is_launched_as_rank_0()) print_reason_once(reason);
}

/// Computes the planned rank of each process, on process 0. On failure returns NULL, with the reason in `error`.
static int* compute_planned_ranks(const char* file, const struct affinity_report* report, char* error,
                                  size_t error_size) {
    struct bindings bindings;
    int* ranks = malloc((size_t)report->count * sizeof *ranks);
    snprintf(error, error_size, "not enough memory");
    if (ranks == NULL || report->text == NULL || !read_bindings(file, &bindings, error, error_size)) {
        free(ranks);
        return NULL;
    }
    const bool matched = match_processes(&bindings, report, ranks, error, error_size);
    free_bindings(&bindings);
    if (matched) return ranks;
    free(ranks);
    return NULL;
}

/// Returns the reason why no plan can be applied, or NULL. Collective.
static const char* find_renumbering_obstacle(MPI_Comm comm) {
    int *number = NULL, has_number = 0, own_values[3], maxima[3];
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &has_number);
    own_values[0] = has_number ? *number : 0;
    own_values[1] = -own_values[0];
    own_values[2] = is_disabled_;
    PMPI_Allreduce(own_values, maxima, 3, MPI_INT, MPI_MAX, comm);
    if (maxima[2]) return "the program uses MPI sessions";
    // In an MPMD job, the program that a process runs depends on its rank.
    return maxima[0] == -maxima[1] ? NULL : "the job runs several programs";
}

/// Returns the planned rank of this process, or -1 if all processes keep their ranks.
static int find_planned_rank(const char* file, MPI_Comm comm) {
    char error[1024];
    int rank = 0, planned = -1, *ranks = NULL;
    const char* obstacle = find_renumbering_obstacle(comm);
    struct affinity_report report = gather_affinities(comm);
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0 && obstacle == NULL) {
        ranks = compute_planned_ranks(file, &report, error, sizeof error);
        if (ranks == NULL) obstacle = error;
    }
    if (rank == 0 && obstacle != NULL) print_reason_once(obstacle);
    int is_planned = ranks != NULL;
    PMPI_Bcast(&is_planned, 1, MPI_INT, 0, comm);
    if (is_planned) PMPI_Scatter(ranks, 1, MPI_INT, &planned, 1, MPI_INT, 0, comm);
    free(ranks);
    free(report.text);
    return planned;
}

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
static void free_at_finalize(void) {}  // MPI does not delete the attributes of MPI_COMM_WORLD
#else
static int free_renumbered_world(MPI_Comm self, int key, void* value, void* state) {
    (void)self, (void)key, (void)value, (void)state;
    MPI_Comm renumbered = world_renumbered;
    const int status = PMPI_Comm_free(&renumbered);
    world_renumbered = MPI_COMM_WORLD;
    return status;
}

/// Frees our communicator in MPI_Finalize, which deletes attributes of MPI_COMM_SELF, newest first, and then those of
/// MPI_COMM_WORLD. Attributes that the program set on MPI_COMM_WORLD are on our communicator, and must be
/// deleted between these. So our communicator is freed by our own attribute, the oldest of MPI_COMM_SELF.
static void free_at_finalize(void) {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_renumbered_world, &key, NULL);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}
#endif

static void renumber_world(void) {
    char* file = getenv(world_shim.variable) == NULL ? NULL : strdup(getenv(world_shim.variable));
    MPI_Comm parent = MPI_COMM_NULL, own = MPI_COMM_NULL, renumbered = MPI_COMM_NULL;
    MPI_Errhandler handler;
    int rank = -1;
    unsetenv(world_shim.variable);  // removed, so that jobs started by the program are not renumbered
    PMPI_Comm_get_parent(&parent);
    // Spawned processes are not in the plan.
    if (file != NULL && parent == MPI_COMM_NULL && wait_for_all_ranks(&world_shim) == MPI_SUCCESS &&
        PMPI_Comm_dup(MPI_COMM_WORLD, &own) == MPI_SUCCESS) {
        rank = find_planned_rank(file, own);
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

__attribute__((constructor)) static void load(int argc, char** argv) {
    (void)argc;
    restart_if_other_mpi(&world_shim, argv);
    register_init_hook(renumber_world);
}
