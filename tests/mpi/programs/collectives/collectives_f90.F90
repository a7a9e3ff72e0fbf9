! SPDX-License-Identifier: BSD-3-Clause
! All collectives by topoloom_collective beside those of mpi.
program collectives_f90
  use mpi
  use topoloom_collective
  implicit none
#include "collectives_fortran.inc"
end program
