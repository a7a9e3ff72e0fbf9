! SPDX-License-Identifier: BSD-3-Clause
! Balances with integers for handles.
program balance_f90
  use mpi
  use topoloom_balancing
  implicit none
#include "balance_fortran.inc"
end program
