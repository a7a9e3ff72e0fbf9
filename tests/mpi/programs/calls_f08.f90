! SPDX-License-Identifier: BSD-3-Clause
! The Fortran 2008 bindings on 4 ranks, without error arguments: what calls.f90 does with `use mpi`.
program calls
    use mpi_f08
    implicit none
    integer :: me, next, before, i, world(4), places(4), all(4), in(64), out(64)
    type(MPI_Request) :: request, receive
    type(MPI_Comm) :: half
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    next = mod(me + 1, 4)
    before = mod(me + 3, 4)
    out = me

    call MPI_Pcontrol(1)
    call MPI_Isend(out, 3, MPI_INTEGER, next, 0, MPI_COMM_WORLD, request)
    call MPI_Recv(in, 3, MPI_INTEGER, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(out, 5, MPI_INTEGER, next, 0, in, 5, MPI_INTEGER, before, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    if (me == 0) call MPI_Send(out, 7, MPI_INTEGER, 1, 1, MPI_COMM_WORLD)
    if (me == 1) call MPI_Recv(in, 7, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)

    call MPI_Pcontrol(2)
    call MPI_Send_init(out, 2, MPI_INTEGER, next, 0, MPI_COMM_WORLD, request)
    do i = 1, 3
        call MPI_Irecv(in, 2, MPI_INTEGER, before, 0, MPI_COMM_WORLD, receive)
        call MPI_Start(request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Wait(receive, MPI_STATUS_IGNORE)
    end do
    call MPI_Request_free(request)

    call MPI_Pcontrol(3)
    call MPI_Comm_split(MPI_COMM_WORLD, me / 2, -me, half)
    call MPI_Bcast(out, 4, MPI_INTEGER, 0, half)
    call MPI_Allreduce(MPI_IN_PLACE, in, 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    world = [1, 1, 1, 1]
    places = [0, 1, 2, 3]
    all = 0
    call MPI_Alltoallv(MPI_IN_PLACE, all, all, MPI_INTEGER, in, world, places, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Comm_free(half)
    call MPI_Finalize()
end program calls
