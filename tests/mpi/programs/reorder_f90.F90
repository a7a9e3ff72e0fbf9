! SPDX-License-Identifier: BSD-3-Clause
! Topologies with integer handles; with -DMODULE by topoloom_mpi instead of MPI.
program reorder_f90
#ifdef MODULE
  use mpi
  use topoloom_mpi, only: make_cart => topoloom_cart_create, make_graph => topoloom_graph_create, &
      make_dist_graph => topoloom_dist_graph_create, make_adjacent => topoloom_dist_graph_create_adjacent, &
      topoloom_comm_remap, topoloom_comm_order
  implicit none
#define ARRAYS_ONLY
#else
  use mpi
  implicit none
#define make_cart MPI_Cart_create
#define make_graph MPI_Graph_create
#define make_dist_graph MPI_Dist_graph_create
#define make_adjacent MPI_Dist_graph_create_adjacent
#endif
#define COMM integer
#include "reorder_fortran.inc"
end program
