! SPDX-License-Identifier: BSD-3-Clause
! Fortran interface of topoloom_mpi.h. Each procedure accepts handles of mpi or mpi_f08.
module topoloom_mpi
  use topoloom_mpi_f08
  use topoloom_mpi_f90
  implicit none
  public
end module
