// SPDX-License-Identifier: BSD-3-Clause
// Arguments of Open MPI's Fortran bindings: `mpi_x_` (mpif.h, use mpi) and `mpi_x_f08_` (use mpi_f08, whose error
// argument is optional). Those of the MPICH family call the C functions MPI_X and need no wrappers.
#ifndef TOPOLOOM_PRELOAD_FORTRAN_H
#define TOPOLOOM_PRELOAD_FORTRAN_H

#include "preload.h"

#ifdef OPEN_MPI
_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran integers differ from int");

#define INT MPI_Fint*
#define COMM(comm) PMPI_Comm_f2c(*(comm))
#define TYPE(type) PMPI_Type_f2c(*(type))
#define OP(op) PMPI_Op_f2c(*(op))
/// Defines both names of a procedure.
#define BOTH(wrapper, name, ...) wrapper(name##_, ##__VA_ARGS__) wrapper(name##_f08_, ##__VA_ARGS__)

// Fortran's MPI_IN_PLACE and MPI_BOTTOM are recognized by their addresses. Programs without Fortran lack them.
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));

static inline void* to_c_buffer(void* buffer) {
    if (buffer != NULL && buffer == (void*)&mpi_fortran_in_place_) return MPI_IN_PLACE;
    return buffer == (void*)&mpi_fortran_bottom_ ? MPI_BOTTOM : buffer;
}

static inline void set_error(INT error, int status) {
    if (error != NULL) *error = status;
}
#endif

#endif
