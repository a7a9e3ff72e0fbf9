! SPDX-License-Identifier: BSD-3-Clause
! Fortran's bindings, `use mpi_f08`: who is this rank? All ranks print in their order, whatever their numbering.
program world
    use mpi_f08
    implicit none
    integer :: me, ranks, code, key, length, from, rank, code_of_split(2)
    integer(kind=MPI_ADDRESS_KIND) :: value, number
    type(MPI_Comm) :: half, twin
    logical :: tags, mine
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer, allocatable :: all(:, :)
    integer :: answers(8)
    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, code)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, tags, code)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, code)
    number = 1000 + me
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, number, code)
    call MPI_Comm_dup(MPI_COMM_WORLD, twin, code)
    call MPI_Comm_get_attr(twin, key, value, mine, code)
    call MPI_Comm_free(twin, code)
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, code)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), -me, half, code)
    call MPI_Comm_rank(half, code_of_split(1), code)
    call MPI_Comm_size(half, code_of_split(2), code)
    call MPI_Comm_free(half, code)
    call MPI_Sendrecv(me, 1, MPI_INTEGER, mod(me + 1, ranks), 0, from, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    answers = [me, ranks, merge(1, 0, tags), merge(int(value), -1, mine), code_of_split(1), code_of_split(2), &
               from, merge(1, 0, name(1:length) == 'MPI_COMM_WORLD')]
    allocate(all(8, ranks))
    call MPI_Gather(answers, 8, MPI_INTEGER, all, 8, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    if (me == 0) then
        do rank = 1, ranks
            print '(8i6)', all(:, rank)
        end do
    end if
    call MPI_Finalize(code)
end program world
