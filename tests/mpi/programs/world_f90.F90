! SPDX-License-Identifier: BSD-3-Clause
! Fortran's bindings, `use mpi`.
program world_f90
    use mpi
    implicit none
#define COMM integer
#include "world_fortran.inc"
end program
