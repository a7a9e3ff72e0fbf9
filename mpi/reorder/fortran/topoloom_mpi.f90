! SPDX-License-Identifier: BSD-3-Clause
! The Fortran interface of topoloom_mpi.h: each procedure takes the handles of mpi or of mpi_f08.
module topoloom_mpi
  use topoloom_mpi_f08
  use topoloom_mpi_f90
  implicit none
  public
end module
