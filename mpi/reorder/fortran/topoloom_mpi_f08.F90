! SPDX-License-Identifier: BSD-3-Clause
! Procedures for programs that use mpi_f08.
#define COMM type(MPI_Comm)
#define INFO type(MPI_Info)
#define VALUE %MPI_VAL
module topoloom_mpi_f08
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_char
  use mpi_f08
#include "topoloom_mpi_bindings.inc"
end module
