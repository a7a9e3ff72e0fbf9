// SPDX-License-Identifier: BSD-3-Clause
// Fortran's bindings: `mpi_x_` (mpif.h, use mpi) and `mpi_x_f08_` (use mpi_f08, whose error argument may be
// missing). Arrays are passed on untouched: they may be Fortran's own MPI_UNWEIGHTED.
#include "preload.h"

#define INT MPI_Fint*
static const MPI_Fint not_reordered_ = 0;  // .false. of every compiler

static void finish(MPI_Fint status, INT made, const MPI_Fint* info, INT error) {
    if (status == MPI_SUCCESS) status = topoloom_topology_reorder_f(made, info);
    if (error != NULL) *error = status;
}

static MPI_Fint no_info(void) { return PMPI_Info_c2f(MPI_INFO_NULL); }

typedef void grid(INT, INT, INT, INT, const MPI_Fint*, INT, INT);
static void make_grid(grid* next, INT comm, INT count, INT a, INT b, INT reorder, INT made, INT error) {
    if (*reorder == 0 || !preload_active()) {
        next(comm, count, a, b, reorder, made, error);
        return;
    }
    MPI_Fint status = MPI_SUCCESS;
    const MPI_Fint info = no_info();
    next(comm, count, a, b, &not_reordered_, made, &status);
    finish(status, made, &info, error);
}

typedef void graph(INT, INT, INT, INT, INT, INT, INT, const MPI_Fint*, INT, INT);
static void make_graph(graph* next, INT comm, INT n, INT sources, INT degrees, INT targets, INT weights,
                       INT info, INT reorder, INT made, INT error) {
    if (*reorder == 0 || !preload_active()) {
        next(comm, n, sources, degrees, targets, weights, info, reorder, made, error);
        return;
    }
    MPI_Fint status = MPI_SUCCESS;
    next(comm, n, sources, degrees, targets, weights, info, &not_reordered_, made, &status);
    finish(status, made, info, error);
}

typedef void adjacent(INT, INT, INT, INT, INT, INT, INT, INT, const MPI_Fint*, INT, INT);
static void make_adjacent(adjacent* next, INT comm, INT in, INT sources, INT source_weights, INT out,
                          INT targets, INT target_weights, INT info, INT reorder, INT made, INT error) {
    if (*reorder == 0 || !preload_active()) {
        next(comm, in, sources, source_weights, out, targets, target_weights, info, reorder, made, error);
        return;
    }
    MPI_Fint status = MPI_SUCCESS;
    next(comm, in, sources, source_weights, out, targets, target_weights, info, &not_reordered_, made,
         &status);
    finish(status, made, info, error);
}

#define GRID(name)                                                                               \
    SHIM_EXPORT void name(INT comm, INT count, INT a, INT b, INT reorder, INT made, INT error) { \
        NEXT(name, grid*);                                                                       \
        make_grid(next, comm, count, a, b, reorder, made, error);                                \
    }
#define GRAPH(name)                                                                                      \
    SHIM_EXPORT void name(INT comm, INT n, INT sources, INT degrees, INT targets, INT weights, INT info, \
                          INT reorder, INT made, INT error) {                                            \
        NEXT(name, graph*);                                                                              \
        make_graph(next, comm, n, sources, degrees, targets, weights, info, reorder, made, error);       \
    }
#define ADJACENT(name)                                                                                      \
    SHIM_EXPORT void name(INT comm, INT in, INT sources, INT source_weights, INT out, INT targets,          \
                          INT target_weights, INT info, INT reorder, INT made, INT error) {                 \
        NEXT(name, adjacent*);                                                                              \
        make_adjacent(next, comm, in, sources, source_weights, out, targets, target_weights, info, reorder, \
                      made, error);                                                                         \
    }
#define FINALIZE(name)                 \
    SHIM_EXPORT void name(INT error) { \
        NEXT(name, void (*)(INT));     \
        preload_report();              \
        next(error);                   \
    }

GRID(mpi_cart_create_)
GRID(mpi_cart_create_f08_)
GRID(mpi_graph_create_)
GRID(mpi_graph_create_f08_)
GRAPH(mpi_dist_graph_create_)
GRAPH(mpi_dist_graph_create_f08_)
ADJACENT(mpi_dist_graph_create_adjacent_)
ADJACENT(mpi_dist_graph_create_adjacent_f08_)
FINALIZE(mpi_finalize_)
FINALIZE(mpi_finalize_f08_)
