// SPDX-License-Identifier: BSD-3-Clause
// Renumbers MPI_COMM_WORLD inside an unmodified program.
//
// A communicator with the same processes in the planned order replaces MPI_COMM_WORLD: each MPI call that takes a
// communicator has a wrapper (written by python/topoloom/preload/world/wrappers.py from the user's mpi.h) that passes
// on replace_world() of it. The PMPI names have wrappers, too, because Fortran bindings and tools call those.
#ifndef TOPOLOOM_WORLD_H
#define TOPOLOOM_WORLD_H

#include "process_map.h"
#include "shim.h"

extern const struct shim world_shim;
extern MPI_Comm world_renumbered;  // MPI_COMM_WORLD if nothing is renumbered

static inline MPI_Comm replace_world(MPI_Comm comm) {
    return comm == MPI_COMM_WORLD ? world_renumbered : comm;
}

/// Assigns a planned rank to each process by its host, and by its CPUs if it is bound; the other processes of a host
/// take its remaining slots in launcher order. False with the reason in `error`.
bool match_processes(const struct bindings* bindings, const struct affinity_report* report, int* ranks,
                     char* error, size_t error_size);

/// Before MPI_Init: the program keeps its numbering.
void keep_world(const char* reason);

#endif
