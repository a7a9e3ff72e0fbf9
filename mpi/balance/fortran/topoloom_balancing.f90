! SPDX-License-Identifier: BSD-3-Clause
! What topoloom_balance.h declares, for Fortran. The module has another name, as Fortran allows none that a procedure has.
module topoloom_balancing
  use, intrinsic :: iso_c_binding, only: c_associated, c_double, c_f_pointer, c_int, c_loc, c_long_long, c_null_char, &
      c_null_ptr, c_ptr
  use mpi_f08, only: MPI_Comm
  use topoloom_balance_calls
  implicit none
  private
  public :: topoloom_balance_options, topoloom_plan, topoloom_exchange_request
  public :: TOPOLOOM_DECIDE_FASTEST, TOPOLOOM_DECIDE_GATHERED, TOPOLOOM_DECIDE_BY_MESSAGES
  public :: topoloom_balance, topoloom_plan_given, topoloom_plan_free, topoloom_exchange, topoloom_exchange_sized
  public :: topoloom_exchange_start, topoloom_exchange_sized_start, topoloom_exchange_test, topoloom_exchange_finish
  public :: topoloom_balance_error

  integer, parameter :: TOPOLOOM_DECIDE_FASTEST = 0, TOPOLOOM_DECIDE_GATHERED = 1, TOPOLOOM_DECIDE_BY_MESSAGES = 2

  !> As in C; texts that are not allocated are not given.
  type :: topoloom_balance_options
    character(:), allocatable :: method, machine
    integer :: slot = 0, decide = TOPOLOOM_DECIDE_FASTEST
    real(c_double) :: message_s = 0, byte_s = 0, patience = 0
    logical :: makes_room = .false.
  end type

  !> As in C. The arrays are the library's, until the plan is freed.
  type :: topoloom_plan
    integer(c_long_long) :: before = 0, after = 0, kept = 0
    integer(c_int), pointer :: to(:) => null(), from(:) => null()
    integer(c_long_long), pointer :: tasks_to(:) => null(), tasks_from(:) => null()
    type(c_ptr), private :: plan = c_null_ptr
  end type

  !> With the communicators of mpi_f08, or integers.
  interface topoloom_balance
    module procedure balance, balance_integer
  end interface
  interface topoloom_plan_given
    module procedure plan_given, plan_given_integer
  end interface

contains

  subroutine balance(comm, count, options, plan, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(c_long_long), intent(in) :: count
    type(topoloom_balance_options), intent(in) :: options
    type(topoloom_plan), intent(out) :: plan
    integer, optional, intent(out) :: ierror
    call balance_integer(comm%MPI_VAL, count, options, plan, ierror)
  end subroutine

  subroutine balance_integer(comm, count, options, plan, ierror)
    integer, intent(in) :: comm
    integer(c_long_long), intent(in) :: count
    type(topoloom_balance_options), intent(in) :: options
    type(topoloom_plan), intent(out) :: plan
    integer, optional, intent(out) :: ierror
    call give(c_balance(comm, count, text(options%method), text(options%machine), numbers(options), plan%plan), &
        ierror)
    call look_into(plan)
  end subroutine

  subroutine plan_given(comm, count, to_count, to, tasks_to, options, plan, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(c_long_long), intent(in) :: count, tasks_to(*)
    integer, intent(in) :: to_count, to(*)
    type(topoloom_balance_options), intent(in) :: options
    type(topoloom_plan), intent(out) :: plan
    integer, optional, intent(out) :: ierror
    call plan_given_integer(comm%MPI_VAL, count, to_count, to, tasks_to, options, plan, ierror)
  end subroutine

  subroutine plan_given_integer(comm, count, to_count, to, tasks_to, options, plan, ierror)
    integer, intent(in) :: comm, to_count, to(*)
    integer(c_long_long), intent(in) :: count, tasks_to(*)
    type(topoloom_balance_options), intent(in) :: options
    type(topoloom_plan), intent(out) :: plan
    integer, optional, intent(out) :: ierror
    call give(c_plan_given(comm, count, to_count, to, tasks_to, numbers(options), plan%plan), ierror)
    call look_into(plan)
  end subroutine

  function numbers(options) result(others)
    type(topoloom_balance_options), intent(in) :: options
    type(c_options) :: others
    others = c_options(slot=options%slot, decide=options%decide, message_s=options%message_s, &
        byte_s=options%byte_s, patience=options%patience, makes_room=merge(1, 0, options%makes_room))
  end function

  subroutine look_into(plan)
    type(topoloom_plan), intent(inout) :: plan
    type(c_plan), pointer :: made
    if (.not. c_associated(plan%plan)) return
    call c_f_pointer(plan%plan, made)
    plan%before = made%before
    plan%after = made%after
    plan%kept = made%kept
    call c_f_pointer(made%to, plan%to, [made%to_count])
    call c_f_pointer(made%from, plan%from, [made%from_count])
    call c_f_pointer(made%tasks_to, plan%tasks_to, [made%to_count])
    call c_f_pointer(made%tasks_from, plan%tasks_from, [made%from_count])
  end subroutine

  subroutine topoloom_plan_free(plan, ierror)
    type(topoloom_plan), intent(inout) :: plan
    integer, optional, intent(out) :: ierror
    call give(c_plan_free(plan%plan), ierror)
    plan = topoloom_plan()
  end subroutine

  subroutine topoloom_exchange(plan, tasks, task_bytes, room, held, ierror)
    type(topoloom_plan), intent(in) :: plan
    type(*), dimension(..), target, intent(inout) :: tasks
    integer, intent(in) :: task_bytes
    integer(c_long_long), intent(in) :: room
    integer(c_long_long), intent(out) :: held
    integer, optional, intent(out) :: ierror
    held = plan%before
    call give(c_exchange(plan%plan, memory(tasks), task_bytes, room, held), ierror)
  end subroutine

  subroutine topoloom_exchange_sized(plan, tasks, byte_room, sizes, room, held, ierror)
    type(topoloom_plan), intent(in) :: plan
    type(*), dimension(..), target, intent(inout) :: tasks
    integer(c_long_long), intent(in) :: byte_room, room
    integer(c_long_long), intent(inout) :: sizes(*)
    integer(c_long_long), intent(out) :: held
    integer, optional, intent(out) :: ierror
    held = plan%before
    call give(c_exchange_sized(plan%plan, memory(tasks), byte_room, sizes, room, held), ierror)
  end subroutine

  subroutine topoloom_exchange_start(plan, tasks, task_bytes, room, moving, ierror)
    type(topoloom_plan), intent(in) :: plan
    type(*), dimension(..), target, asynchronous :: tasks
    integer, intent(in) :: task_bytes
    integer(c_long_long), intent(in) :: room
    type(topoloom_exchange_request), intent(out) :: moving
    integer, optional, intent(out) :: ierror
    call give(c_exchange_start(plan%plan, memory(tasks), task_bytes, room, moving), ierror)
  end subroutine

  subroutine topoloom_exchange_sized_start(plan, tasks, byte_room, sizes, room, moving, ierror)
    type(topoloom_plan), intent(in) :: plan
    type(*), dimension(..), target, asynchronous :: tasks
    integer(c_long_long), intent(in) :: byte_room, room
    integer(c_long_long), target, asynchronous, contiguous :: sizes(:)
    type(topoloom_exchange_request), intent(out) :: moving
    integer, optional, intent(out) :: ierror
    call give(c_exchange_sized_start(plan%plan, memory(tasks), byte_room, memory(sizes), room, moving), ierror)
  end subroutine

  subroutine topoloom_exchange_test(moving, done, ierror)
    type(topoloom_exchange_request), intent(in) :: moving
    logical, intent(out) :: done
    integer, optional, intent(out) :: ierror
    integer(c_int) :: flag
    flag = 0
    call give(c_exchange_test(moving, flag), ierror)
    done = flag /= 0
  end subroutine

  subroutine topoloom_exchange_finish(moving, held, ierror)
    type(topoloom_exchange_request), intent(inout) :: moving
    integer(c_long_long), intent(out) :: held
    integer, optional, intent(out) :: ierror
    held = 0
    call give(c_exchange_finish(moving, held), ierror)
  end subroutine

  subroutine topoloom_balance_error(status, text)
    integer, intent(in) :: status
    character(*), intent(out) :: text
    text = ''
    call c_balance_error(status, text, len(text))
  end subroutine

  subroutine give(status, ierror)
    integer(c_int), intent(in) :: status
    integer, optional, intent(out) :: ierror
    if (present(ierror)) ierror = status
  end subroutine

  !> Null, which is an error where there are tasks, for an array with gaps: C sees the memory, not the array.
  function memory(tasks) result(where)
    type(*), dimension(..), target, intent(in) :: tasks
    type(c_ptr) :: where
    where = c_null_ptr
    if (is_contiguous(tasks)) where = c_loc(tasks)
  end function

  function text(given) result(ended)
    character(:), allocatable, intent(in) :: given
    character(:), allocatable :: ended
    ended = c_null_char
    if (allocated(given)) ended = trim(given)//c_null_char
  end function
end module
