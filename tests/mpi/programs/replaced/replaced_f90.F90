! SPDX-License-Identifier: BSD-3-Clause
! With handles that are integers.
program replaced
    use mpi
#define HANDLE(kind) integer
#define ERROR , error
#include "replaced_fortran.inc"
end program
