! SPDX-License-Identifier: BSD-3-Clause
! With typed handles; arguments for errors are left out.
program replaced
    use mpi_f08
#define HANDLE(kind) type(kind)
#define ERROR
#include "replaced_fortran.inc"
end program
