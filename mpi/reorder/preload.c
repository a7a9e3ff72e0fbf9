// SPDX-License-Identifier: BSD-3-Clause
// Preloaded library: wraps MPI's topology functions for calls with reorder != 0, and reports the gain at MPI_Finalize.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload.h"
#include "process_map.h"

static const struct shim shim_ = {"reorder", "TOPOLOOM_REORDER", "not reordered", NULL};

static char report_file_[4096];  // file of the report; if not an absolute path, report on stderr

bool is_reorder_active(void) {
    static int active = -1;
    if (active >= 0) return active;
    const char* named = getenv(shim_.variable);
    MPI_Comm parent = MPI_COMM_NULL;
    int initialized = 0;  // remains 0 if MPI is initialized by a session
    PMPI_Initialized(&initialized);
    if (initialized) PMPI_Comm_get_parent(&parent);
    // MPICH passes the variable to spawned processes, so check the parent.
    active = named != NULL && strlen(named) < sizeof report_file_ && parent == MPI_COMM_NULL;
    if (active) strcpy(report_file_, named);
    unsetenv(shim_.variable);  // removed, so that jobs started by the program are not affected
    return active;
}

static void read_reorder_variable(void) { is_reorder_active(); }

__attribute__((constructor)) static void load(int argc, char** argv) {
    (void)argc;
    restart_if_other_mpi(&shim_, argv);
    register_init_hook(read_reorder_variable);
}

/// Appends a line about a topology to a file beside the report, for programs that end before MPI_Finalize.
static void log_topology(bool is_reordered) {
    static int file = -1;
    char name[sizeof report_file_ + 16];
    if (report_file_[0] != '/') return;
    snprintf(name, sizeof name, "%s.topologies", report_file_);
    if (file < 0) file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file >= 0) dprintf(file, "%s\n", is_reordered ? "reordered" : "kept");
}

static int reorder_if_created(int status, MPI_Comm* created, MPI_Info info) {
    if (status != MPI_SUCCESS) return status;
    const struct reorder_stats before = reorder_totals;
    status = topoloom_topology_reorder(created, info);
    // Only one process of each topology counts it.
    if (reorder_totals.topologies > before.topologies)
        log_topology(reorder_totals.reordered > before.reordered);
    return status;
}

// In these wrappers, the next definition creates a topology without reordering.

SHIM_EXPORT int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                                MPI_Comm* newcomm) {
    NEXT(MPI_Cart_create, int (*)(MPI_Comm, int, const int[], const int[], int, MPI_Comm*));
    if (!reorder || !is_reorder_active()) return next(comm, ndims, dims, periods, reorder, newcomm);
    return reorder_if_created(next(comm, ndims, dims, periods, 0, newcomm), newcomm, MPI_INFO_NULL);
}

SHIM_EXPORT int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                                 MPI_Comm* newcomm) {
    NEXT(MPI_Graph_create, int (*)(MPI_Comm, int, const int[], const int[], int, MPI_Comm*));
    if (!reorder || !is_reorder_active()) return next(comm, nodes, index, edges, reorder, newcomm);
    return reorder_if_created(next(comm, nodes, index, edges, 0, newcomm), newcomm, MPI_INFO_NULL);
}

SHIM_EXPORT int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                                      const int targets[], const int weights[], MPI_Info info, int reorder,
                                      MPI_Comm* newcomm) {
    NEXT(MPI_Dist_graph_create, int (*)(MPI_Comm, int, const int[], const int[], const int[], const int[],
                                        MPI_Info, int, MPI_Comm*));
    if (!reorder || !is_reorder_active())
        return next(comm, n, sources, degrees, targets, weights, info, reorder, newcomm);
    return reorder_if_created(next(comm, n, sources, degrees, targets, weights, info, 0, newcomm), newcomm,
                              info);
}

SHIM_EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                               const int source_weights[], int outdegree, const int targets[],
                                               const int target_weights[], MPI_Info info, int reorder,
                                               MPI_Comm* newcomm) {
    NEXT(MPI_Dist_graph_create_adjacent, int (*)(MPI_Comm, int, const int[], const int[], int, const int[],
                                                 const int[], MPI_Info, int, MPI_Comm*));
    const bool is_ours = reorder && is_reorder_active();
    const int status = next(comm, indegree, sources, source_weights, outdegree, targets, target_weights, info,
                            is_ours ? 0 : reorder, newcomm);
    return is_ours ? reorder_if_created(status, newcomm, info) : status;
}

/// Appends to the file named by TOPOLOOM_REORDER, for `topoloom run`, or prints on stderr.
static void write_report(const char* line) {
    const int file =
        report_file_[0] != '/' ? -1 : open(report_file_, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        fprintf(stderr, "topoloom: %s\n", line);
    else
        dprintf(file, "%s\n", line);
    if (file >= 0) close(file);
}

void report_reordering(void) {
    static bool reported;
    if (!is_reorder_active() || reported) return;
    reported = true;
    struct reorder_stats all = {0};
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(&reorder_totals.topologies, &all.topologies, 5, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&reorder_totals.before, &all.before, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    char gain[256], line[512];
    format_gain(&all, gain, sizeof gain);
    if (all.topologies == 0)
        snprintf(line, sizeof line, "nothing reordered: the program made no topology with reorder=1");
    else if (all.failed == all.topologies)
        snprintf(line, sizeof line, "nothing reordered, for the reason above");
    else if (all.reordered == 0)
        snprintf(line, sizeof line, "nothing reordered: no better order was found for %lld %s",
                 (long long)all.topologies, all.topologies == 1 ? "topology" : "topologies");
    else
        snprintf(line, sizeof line, "%lld of %lld %s reordered: cost %s", (long long)all.reordered,
                 (long long)all.topologies, all.topologies == 1 ? "topology" : "topologies", gain);
    write_report(line);
}

SHIM_EXPORT int MPI_Finalize(void) {
    NEXT(MPI_Finalize, int (*)(void));
    report_reordering();
    return next();
}
