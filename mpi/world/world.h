// SPDX-License-Identifier: BSD-3-Clause
// Another numbering of MPI_COMM_WORLD inside an unmodified program.
//
// A communicator with the same processes in the planned order takes the place of MPI_COMM_WORLD: each MPI call that
// takes a communicator has a wrapper (written by python/topoloom/preload/world/wrappers.py from the user's mpi.h) that
// hands on world_seen() of it. The PMPI names have wrappers, too: Fortran's bindings and tools call these.
#ifndef TOPOLOOM_WORLD_H
#define TOPOLOOM_WORLD_H

#include "seats.h"
#include "shim.h"

extern MPI_Comm world_renumbered;  // MPI_COMM_WORLD where nothing is renumbered

static inline MPI_Comm world_seen(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? world_renumbered : comm; }

/// Finds the planned rank of each process by its host, and where it is bound by its CPUs; else those of a host
/// take its slots in their order. False with a reason in `why`.
bool world_match(const struct bindings* bindings, const struct testimonies* processes, int* ranks, char* why,
                 int room);

/// Before MPI_Init: the program keeps its numbering.
void world_refuse(const char* why);

#endif
