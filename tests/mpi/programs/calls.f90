! SPDX-License-Identifier: BSD-3-Clause
! The Fortran bindings, `use mpi`, on 4 ranks: what calls_f08.f90 does with `use mpi_f08`.
program calls
    use mpi
    implicit none
    integer :: me, next, before, request, receive, i, code, world(4), places(4), all(4)
    integer :: half, status(MPI_STATUS_SIZE), in(64), out(64)
    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, code)
    next = mod(me + 1, 4)
    before = mod(me + 3, 4)
    out = me

    call MPI_Pcontrol(1)
    call MPI_Isend(out, 3, MPI_INTEGER, next, 0, MPI_COMM_WORLD, request, code)
    call MPI_Recv(in, 3, MPI_INTEGER, before, 0, MPI_COMM_WORLD, status, code)
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    call MPI_Sendrecv(out, 5, MPI_INTEGER, next, 0, in, 5, MPI_INTEGER, before, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, code)
    if (me == 0) call MPI_Send(out, 7, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, code)
    if (me == 1) call MPI_Recv(in, 7, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, status, code)

    call MPI_Pcontrol(2)
    call MPI_Send_init(out, 2, MPI_INTEGER, next, 0, MPI_COMM_WORLD, request, code)
    do i = 1, 3
        call MPI_Irecv(in, 2, MPI_INTEGER, before, 0, MPI_COMM_WORLD, receive, code)
        call MPI_Start(request, code)
        call MPI_Wait(request, status, code)
        call MPI_Wait(receive, status, code)
    end do
    call MPI_Request_free(request, code)

    call MPI_Pcontrol(3)
    call MPI_Comm_split(MPI_COMM_WORLD, me / 2, -me, half, code)
    call MPI_Bcast(out, 4, MPI_INTEGER, 0, half, code)
    call MPI_Allreduce(MPI_IN_PLACE, in, 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    world = [1, 1, 1, 1]
    places = [0, 1, 2, 3]
    all = 0
    call MPI_Alltoallv(MPI_IN_PLACE, all, all, MPI_INTEGER, in, world, places, MPI_INTEGER, MPI_COMM_WORLD, code)
    call MPI_Comm_free(half, code)
    call MPI_Finalize(code)
end program calls
