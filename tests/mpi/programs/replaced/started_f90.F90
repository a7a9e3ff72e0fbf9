! SPDX-License-Identifier: BSD-3-Clause
! With handles that are integers.
program started
    use mpi
#define HANDLE(kind) integer
#define ERROR , error
#include "started_fortran.inc"
end program
