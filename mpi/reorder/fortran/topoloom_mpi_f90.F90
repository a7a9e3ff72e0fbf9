! SPDX-License-Identifier: BSD-3-Clause
! Procedures for programs that use mpi or include mpif.h.
#define COMM integer
#define INFO integer
#define VALUE 
module topoloom_mpi_f90
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_char
  use mpi
#include "topoloom_mpi_bindings.inc"
end module
