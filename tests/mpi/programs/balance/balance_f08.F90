! SPDX-License-Identifier: BSD-3-Clause
! Balances with the handles of mpi_f08.
program balance_f08
  use mpi_f08
  use topoloom_balancing
  implicit none
#include "balance_fortran.inc"
end program
