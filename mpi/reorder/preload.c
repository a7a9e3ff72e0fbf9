// SPDX-License-Identifier: BSD-3-Clause
// The preloaded part: MPI's own calls with reorder != 0, and a line about them at the end.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload.h"
#include "process_map.h"

static const struct shim shim_ = {"reorder", "TOPOLOOM_REORDER", "not reordered", NULL};

static char told_to[4096];  // what the variable names: a file, or standard error

bool preload_active(void) {
    static int active = -1;
    if (active >= 0) return active;
    const char* named = getenv(shim_.variable);
    MPI_Comm parent = MPI_COMM_NULL;
    int initialized = 0;  // not by a session
    PMPI_Initialized(&initialized);
    if (initialized) PMPI_Comm_get_parent(&parent);
    // MPICH hands the variable on to those who are spawned.
    active = named != NULL && strlen(named) < sizeof told_to && parent == MPI_COMM_NULL;
    if (active) strcpy(told_to, named);
    unsetenv(shim_.variable);  // jobs that the program starts itself are not meant
    return active;
}

static void read_variable(void) { preload_active(); }

__attribute__((constructor)) static void load(int argc, char** argv) {
    (void)argc;
    leave_other_mpi(&shim_, argv);
    call_after_init(read_variable);
}

int preload_reorder(int status, MPI_Comm* made, MPI_Info info) {
    return status == MPI_SUCCESS ? topoloom_topology_reorder(made, info) : status;
}

// The definition behind ours is asked for a topology that is not reordered.

SHIM_EXPORT int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                                MPI_Comm* made) {
    NEXT(MPI_Cart_create, int (*)(MPI_Comm, int, const int[], const int[], int, MPI_Comm*));
    if (!reorder || !preload_active()) return next(comm, ndims, dims, periods, reorder, made);
    return preload_reorder(next(comm, ndims, dims, periods, 0, made), made, MPI_INFO_NULL);
}

SHIM_EXPORT int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                                 MPI_Comm* made) {
    NEXT(MPI_Graph_create, int (*)(MPI_Comm, int, const int[], const int[], int, MPI_Comm*));
    if (!reorder || !preload_active()) return next(comm, nodes, index, edges, reorder, made);
    return preload_reorder(next(comm, nodes, index, edges, 0, made), made, MPI_INFO_NULL);
}

SHIM_EXPORT int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                                      const int targets[], const int weights[], MPI_Info info, int reorder,
                                      MPI_Comm* made) {
    NEXT(MPI_Dist_graph_create, int (*)(MPI_Comm, int, const int[], const int[], const int[], const int[],
                                        MPI_Info, int, MPI_Comm*));
    if (!reorder || !preload_active())
        return next(comm, n, sources, degrees, targets, weights, info, reorder, made);
    return preload_reorder(next(comm, n, sources, degrees, targets, weights, info, 0, made), made, info);
}

SHIM_EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                               const int source_weights[], int outdegree, const int targets[],
                                               const int target_weights[], MPI_Info info, int reorder,
                                               MPI_Comm* made) {
    NEXT(MPI_Dist_graph_create_adjacent, int (*)(MPI_Comm, int, const int[], const int[], int, const int[],
                                                 const int[], MPI_Info, int, MPI_Comm*));
    const bool ours = reorder && preload_active();
    const int status = next(comm, indegree, sources, source_weights, outdegree, targets, target_weights, info,
                            ours ? 0 : reorder, made);
    return ours ? preload_reorder(status, made, info) : status;
}

/// Into the file that TOPOLOOM_REORDER names, for `topoloom run`, a line a program; else on standard error.
static void say(const char* line) {
    const int file = told_to[0] != '/' ? -1 : open(told_to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        fprintf(stderr, "topoloom: %s\n", line);
    else
        dprintf(file, "%s\n", line);
    if (file >= 0) close(file);
}

void preload_report(void) {
    static bool reported;
    if (!preload_active() || reported) return;
    reported = true;
    struct tally all = {0};
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(&tally.topologies, &all.topologies, 5, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&tally.before, &all.before, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    char gain[256], line[512];
    describe_gain(&all, gain, sizeof gain);
    if (all.topologies == 0)
        snprintf(line, sizeof line, "nothing reordered: the program made no topology with reorder=1");
    else if (all.failed == all.topologies)
        snprintf(line, sizeof line, "nothing reordered, for the reason above");
    else if (all.reordered == 0)
        snprintf(line, sizeof line, "nothing reordered: no better order was found for %lld topologies",
                 (long long)all.topologies);
    else
        snprintf(line, sizeof line, "%lld of %lld topologies reordered: cost %s", (long long)all.reordered,
                 (long long)all.topologies, gain);
    say(line);
}

SHIM_EXPORT int MPI_Finalize(void) {
    NEXT(MPI_Finalize, int (*)(void));
    preload_report();
    return next();
}
