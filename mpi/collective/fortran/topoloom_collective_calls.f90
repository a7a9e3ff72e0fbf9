! SPDX-License-Identifier: BSD-3-Clause
! What collective_f.c offers: handles are Fortran's integers, the form of a call is a number.
module topoloom_collective_calls
  use, intrinsic :: iso_c_binding, only: c_int, c_null_ptr, c_ptr
  implicit none
  public

  !> As MPI_Request is for MPI's; a new one is TOPOLOOM_REQUEST_NULL.
  type, bind(C) :: topoloom_request
    type(c_ptr) :: state = c_null_ptr
  end type

  interface
    type(c_ptr) function c_in_place() bind(C, name='topoloom_in_place_f')
      import :: c_ptr
    end function
    integer(c_int) function c_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, form, &
        request) &
        bind(C, name='topoloom_alltoall_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm, form
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, &
        recvtype, comm, form, request) &
        bind(C, name='topoloom_alltoallv_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: sendtype, recvtype, comm, form
      integer(c_int), intent(in) :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        form, request) &
        bind(C, name='topoloom_allgather_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm, form
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        comm, form, request) &
        bind(C, name='topoloom_allgatherv_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: sendcount, sendtype, recvtype, comm, form
      integer(c_int), intent(in) :: recvcounts(*), displs(*)
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        form, request) &
        bind(C, name='topoloom_gather_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, root, comm, form
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, &
        root, comm, form, request) &
        bind(C, name='topoloom_gatherv_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: sendcount, sendtype, recvtype, root, comm, form
      integer(c_int), intent(in) :: recvcounts(*), displs(*)
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        form, request) &
        bind(C, name='topoloom_scatter_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, root, comm, form
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, &
        root, comm, form, request) &
        bind(C, name='topoloom_scatterv_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: sendtype, recvcount, recvtype, root, comm, form
      integer(c_int), intent(in) :: sendcounts(*), displs(*)
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_allreduce(sendbuf, recvbuf, count, datatype, op, comm, form, request) &
        bind(C, name='topoloom_allreduce_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: count, datatype, op, comm, form
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_reduce(sendbuf, recvbuf, count, datatype, op, root, comm, form, request) &
        bind(C, name='topoloom_reduce_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: count, datatype, op, root, comm, form
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, form, &
        request) &
        bind(C, name='topoloom_reduce_scatter_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: datatype, op, comm, form
      integer(c_int), intent(in) :: recvcounts(*)
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, form, &
        request) &
        bind(C, name='topoloom_reduce_scatter_block_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: recvcount, datatype, op, comm, form
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_scan(sendbuf, recvbuf, count, datatype, op, comm, form, request) &
        bind(C, name='topoloom_scan_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: count, datatype, op, comm, form
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_exscan(sendbuf, recvbuf, count, datatype, op, comm, form, request) &
        bind(C, name='topoloom_exscan_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: sendbuf, recvbuf
      integer(c_int), value :: count, datatype, op, comm, form
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_bcast(buffer, count, datatype, root, comm, form, request) &
        bind(C, name='topoloom_bcast_f')
      import :: c_int, c_ptr, topoloom_request
      type(c_ptr), value :: buffer
      integer(c_int), value :: count, datatype, root, comm, form
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_barrier(comm, form, request) &
        bind(C, name='topoloom_barrier_f')
      import :: c_int, c_ptr, topoloom_request
      integer(c_int), value :: comm, form
      type(topoloom_request), intent(inout) :: request
    end function
  end interface
end module
