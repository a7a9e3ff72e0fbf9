! SPDX-License-Identifier: BSD-3-Clause
! Fortran's bindings, `use mpi_f08`.
program world_f08
    use mpi_f08
    implicit none
#define COMM type(MPI_Comm)
#include "world_fortran.inc"
end program
