! SPDX-License-Identifier: BSD-3-Clause
! Fortran interface of topoloom_collective.h. Each procedure accepts handles of mpi or mpi_f08.
module topoloom_collective
  use topoloom_collective_requests
  use topoloom_collective_blocking_mpi
  use topoloom_collective_blocking_mpi_f08
  use topoloom_collective_nonblocking_mpi
  use topoloom_collective_nonblocking_mpi_f08
  use topoloom_collective_persistent_mpi
  use topoloom_collective_persistent_mpi_f08
  implicit none
  public
end module
