! SPDX-License-Identifier: BSD-3-Clause
! All collectives by topoloom_collective beside those of mpi_f08.
program collectives_f08
  use mpi_f08
  use topoloom_collective
  implicit none
#include "collectives_fortran.inc"
end program
