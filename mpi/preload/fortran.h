// SPDX-License-Identifier: BSD-3-Clause
// Arguments of Open MPI's bindings of Fortran: `mpi_x_` (mpif.h, use mpi) and `mpi_x_f08_` (use mpi_f08, whose error
// argument may be missing). Those of the MPICH family call MPI_X of C, and need nothing.
#ifndef TOPOLOOM_PRELOAD_FORTRAN_H
#define TOPOLOOM_PRELOAD_FORTRAN_H

#include "preload.h"

#ifdef OPEN_MPI
_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's integers are not C's");

#define INT MPI_Fint*
#define COMM(comm) PMPI_Comm_f2c(*(comm))
#define TYPE(type) PMPI_Type_f2c(*(type))
#define OP(op) PMPI_Op_f2c(*(op))

// Fortran's MPI_IN_PLACE and MPI_BOTTOM are known by where they are; not there without Fortran.
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));

static inline void* memory(void* buffer) {
    if (buffer != NULL && buffer == (void*)&mpi_fortran_in_place_) return MPI_IN_PLACE;
    return buffer == (void*)&mpi_fortran_bottom_ ? MPI_BOTTOM : buffer;
}

static inline void end(INT error, int status) {
    if (error != NULL) *error = status;
}
#endif

#endif
