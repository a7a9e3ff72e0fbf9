! SPDX-License-Identifier: BSD-3-Clause
! Topologies with mpi_f08; with -DMODULE by topoloom_mpi instead of MPI. Prints how many processes have moved.
program reorder_f08
#ifdef MODULE
  use mpi_f08
  use topoloom_mpi, only: make_cart => topoloom_cart_create, make_graph => topoloom_graph_create, &
      make_dist_graph => topoloom_dist_graph_create, make_adjacent => topoloom_dist_graph_create_adjacent, &
      topoloom_comm_remap, topoloom_comm_order
#else
  use mpi_f08, make_cart => MPI_Cart_create, make_graph => MPI_Graph_create, &
      make_dist_graph => MPI_Dist_graph_create, make_adjacent => MPI_Dist_graph_create_adjacent
#endif
  implicit none
#define COMM type(MPI_Comm)
#include "reorder_fortran.inc"
end program
