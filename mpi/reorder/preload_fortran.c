// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of the Fortran bindings: `mpi_x_` (mpif.h, use mpi) and `mpi_x_f08_` (use mpi_f08, whose error argument is
// optional). Arrays are passed unchanged, because they may be Fortran's MPI_UNWEIGHTED.
#include "preload.h"

#define INT MPI_Fint*
static const MPI_Fint false_ = 0;  // .false. in every compiler

static void reorder_and_set_error(MPI_Fint status, INT newcomm, const MPI_Fint* info, INT error) {
    if (status == MPI_SUCCESS) status = topoloom_topology_reorder_f(newcomm, info);
    if (error != NULL) *error = status;
}

static MPI_Fint get_null_info(void) { return PMPI_Info_c2f(MPI_INFO_NULL); }

typedef void cart_function(INT, INT, INT, INT, const MPI_Fint*, INT, INT);
static void create_cart(cart_function* next, INT comm, INT count, INT a, INT b, INT reorder, INT newcomm,
                        INT error) {
    if (*reorder == 0 || !is_reorder_active()) {
        next(comm, count, a, b, reorder, newcomm, error);
        return;
    }
    MPI_Fint status = MPI_SUCCESS;
    const MPI_Fint info = get_null_info();
    next(comm, count, a, b, &false_, newcomm, &status);
    reorder_and_set_error(status, newcomm, &info, error);
}

typedef void dist_graph_function(INT, INT, INT, INT, INT, INT, INT, const MPI_Fint*, INT, INT);
static void create_dist_graph(dist_graph_function* next, INT comm, INT n, INT sources, INT degrees,
                              INT targets, INT weights, INT info, INT reorder, INT newcomm, INT error) {
    if (*reorder == 0 || !is_reorder_active()) {
        next(comm, n, sources, degrees, targets, weights, info, reorder, newcomm, error);
        return;
    }
    MPI_Fint status = MPI_SUCCESS;
    next(comm, n, sources, degrees, targets, weights, info, &false_, newcomm, &status);
    reorder_and_set_error(status, newcomm, info, error);
}

typedef void adjacent_function(INT, INT, INT, INT, INT, INT, INT, INT, const MPI_Fint*, INT, INT);
static void create_dist_graph_adjacent(adjacent_function* next, INT comm, INT in, INT sources,
                                       INT source_weights, INT out, INT targets, INT target_weights, INT info,
                                       INT reorder, INT newcomm, INT error) {
    if (*reorder == 0 || !is_reorder_active()) {
        next(comm, in, sources, source_weights, out, targets, target_weights, info, reorder, newcomm, error);
        return;
    }
    MPI_Fint status = MPI_SUCCESS;
    next(comm, in, sources, source_weights, out, targets, target_weights, info, &false_, newcomm, &status);
    reorder_and_set_error(status, newcomm, info, error);
}

#define GRID(mpi_function)                                                                                  \
    SHIM_EXPORT void mpi_function(INT comm, INT count, INT a, INT b, INT reorder, INT newcomm, INT error) { \
        NEXT(mpi_function, cart_function*);                                                                 \
        create_cart(next, comm, count, a, b, reorder, newcomm, error);                                      \
    }
#define GRAPH(mpi_function)                                                                                  \
    SHIM_EXPORT void mpi_function(INT comm, INT n, INT sources, INT degrees, INT targets, INT weights,       \
                                  INT info, INT reorder, INT newcomm, INT error) {                           \
        NEXT(mpi_function, dist_graph_function*);                                                            \
        create_dist_graph(next, comm, n, sources, degrees, targets, weights, info, reorder, newcomm, error); \
    }
#define ADJACENT(mpi_function)                                                                             \
    SHIM_EXPORT void mpi_function(INT comm, INT in, INT sources, INT source_weights, INT out, INT targets, \
                                  INT target_weights, INT info, INT reorder, INT newcomm, INT error) {     \
        NEXT(mpi_function, adjacent_function*);                                                            \
        create_dist_graph_adjacent(next, comm, in, sources, source_weights, out, targets, target_weights,  \
                                   info, reorder, newcomm, error);                                         \
    }
#define FINALIZE(mpi_function)                 \
    SHIM_EXPORT void mpi_function(INT error) { \
        NEXT(mpi_function, void (*)(INT));     \
        report_reordering();                   \
        next(error);                           \
    }

#define BOTH(wrapper, mpi_function) wrapper(mpi_function##_) wrapper(mpi_function##_f08_)

BOTH(GRID, mpi_cart_create)
BOTH(GRID, mpi_graph_create)
BOTH(GRAPH, mpi_dist_graph_create)
BOTH(ADJACENT, mpi_dist_graph_create_adjacent)
BOTH(FINALIZE, mpi_finalize)
