! SPDX-License-Identifier: BSD-3-Clause
! With typed handles; arguments for errors are left out.
program started
    use mpi_f08
#define HANDLE(kind) type(kind)
#define ERROR
#include "started_fortran.inc"
end program
