! SPDX-License-Identifier: BSD-3-Clause
! Fortran interface of topoloom_balance.h. The module is named balancing, because Fortran forbids a module and a
! procedure of the same name.
module topoloom_balancing
  use, intrinsic :: iso_c_binding, only: c_associated, c_double, c_f_pointer, c_int, c_loc, c_long_long, c_null_char, &
      c_null_ptr, c_ptr
  use mpi_f08, only: MPI_Comm
  use topoloom_balance_calls
  implicit none
  private
  public :: topoloom_balance_options, topoloom_plan, topoloom_exchange_request
  public :: TOPOLOOM_DECIDE_FASTEST, TOPOLOOM_DECIDE_GATHERED, TOPOLOOM_DECIDE_BY_MESSAGES
  public :: topoloom_balance, topoloom_plan_create, topoloom_plan_free, topoloom_exchange, topoloom_exchange_sized
  public :: topoloom_exchange_start, topoloom_exchange_sized_start, topoloom_exchange_test, topoloom_exchange_finish
  public :: topoloom_balance_error

  integer, parameter :: TOPOLOOM_DECIDE_FASTEST = 0, TOPOLOOM_DECIDE_GATHERED = 1, TOPOLOOM_DECIDE_BY_MESSAGES = 2

  !> Options as in C; unallocated strings select the default.
  type :: topoloom_balance_options
    character(:), allocatable :: method, machine
    integer :: slot = 0, decide = TOPOLOOM_DECIDE_FASTEST
    real(c_double) :: message_s = 0, byte_s = 0, stall_timeout = 0
    logical :: reserve_capacity = .false.
  end type

  !> A plan as in C. The library owns the arrays until the plan is freed.
  type :: topoloom_plan
    integer(c_long_long) :: before = 0, after = 0, kept = 0
    integer(c_int), pointer :: to(:) => null(), from(:) => null()
    integer(c_long_long), pointer :: tasks_to(:) => null(), tasks_from(:) => null()
    type(c_ptr), private :: plan = c_null_ptr
  end type

  !> Accepts communicators of mpi_f08, or integer handles.
  interface topoloom_balance
    module procedure balance, balance_integer
  end interface
  interface topoloom_plan_create
    module procedure plan_create, plan_create_integer
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
    call set_error(c_balance(comm, count, to_c_string(options%method), to_c_string(options%machine), &
        convert_options(options), plan%plan), ierror)
    call read_plan(plan)
  end subroutine

  subroutine plan_create(comm, count, to_count, to, tasks_to, options, plan, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(c_long_long), intent(in) :: count, tasks_to(*)
    integer, intent(in) :: to_count, to(*)
    type(topoloom_balance_options), intent(in) :: options
    type(topoloom_plan), intent(out) :: plan
    integer, optional, intent(out) :: ierror
    call plan_create_integer(comm%MPI_VAL, count, to_count, to, tasks_to, options, plan, ierror)
  end subroutine

  subroutine plan_create_integer(comm, count, to_count, to, tasks_to, options, plan, ierror)
    integer, intent(in) :: comm, to_count, to(*)
    integer(c_long_long), intent(in) :: count, tasks_to(*)
    type(topoloom_balance_options), intent(in) :: options
    type(topoloom_plan), intent(out) :: plan
    integer, optional, intent(out) :: ierror
    call set_error(c_plan_create(comm, count, to_count, to, tasks_to, convert_options(options), plan%plan), ierror)
    call read_plan(plan)
  end subroutine

  function convert_options(options) result(others)
    type(topoloom_balance_options), intent(in) :: options
    type(c_options) :: others
    others = c_options(slot=options%slot, decide=options%decide, message_s=options%message_s, &
        byte_s=options%byte_s, stall_timeout=options%stall_timeout, reserve_capacity=merge(1, 0, options%reserve_capacity))
  end function

  subroutine read_plan(plan)
    type(topoloom_plan), intent(inout) :: plan
    type(c_plan), pointer :: created
    if (.not. c_associated(plan%plan)) return
    call c_f_pointer(plan%plan, created)
    plan%before = created%before
    plan%after = created%after
    plan%kept = created%kept
    call c_f_pointer(created%to, plan%to, [created%to_count])
    call c_f_pointer(created%from, plan%from, [created%from_count])
    call c_f_pointer(created%tasks_to, plan%tasks_to, [created%to_count])
    call c_f_pointer(created%tasks_from, plan%tasks_from, [created%from_count])
  end subroutine

  subroutine topoloom_plan_free(plan, ierror)
    type(topoloom_plan), intent(inout) :: plan
    integer, optional, intent(out) :: ierror
    call set_error(c_plan_free(plan%plan), ierror)
    plan = topoloom_plan()
  end subroutine

  subroutine topoloom_exchange(plan, tasks, task_bytes, capacity, held, ierror)
    type(topoloom_plan), intent(in) :: plan
    type(*), dimension(..), target, intent(inout) :: tasks
    integer, intent(in) :: task_bytes
    integer(c_long_long), intent(in) :: capacity
    integer(c_long_long), intent(out) :: held
    integer, optional, intent(out) :: ierror
    held = plan%before
    call set_error(c_exchange(plan%plan, memory(tasks), task_bytes, capacity, held), ierror)
  end subroutine

  subroutine topoloom_exchange_sized(plan, tasks, byte_capacity, sizes, capacity, held, ierror)
    type(topoloom_plan), intent(in) :: plan
    type(*), dimension(..), target, intent(inout) :: tasks
    integer(c_long_long), intent(in) :: byte_capacity, capacity
    integer(c_long_long), intent(inout) :: sizes(*)
    integer(c_long_long), intent(out) :: held
    integer, optional, intent(out) :: ierror
    held = plan%before
    call set_error(c_exchange_sized(plan%plan, memory(tasks), byte_capacity, sizes, capacity, held), ierror)
  end subroutine

  subroutine topoloom_exchange_start(plan, tasks, task_bytes, capacity, request, ierror)
    type(topoloom_plan), intent(in) :: plan
    type(*), dimension(..), target, asynchronous :: tasks
    integer, intent(in) :: task_bytes
    integer(c_long_long), intent(in) :: capacity
    type(topoloom_exchange_request), intent(out) :: request
    integer, optional, intent(out) :: ierror
    call set_error(c_exchange_start(plan%plan, memory(tasks), task_bytes, capacity, request), ierror)
  end subroutine

  subroutine topoloom_exchange_sized_start(plan, tasks, byte_capacity, sizes, capacity, request, ierror)
    type(topoloom_plan), intent(in) :: plan
    type(*), dimension(..), target, asynchronous :: tasks
    integer(c_long_long), intent(in) :: byte_capacity, capacity
    integer(c_long_long), target, asynchronous, contiguous :: sizes(:)
    type(topoloom_exchange_request), intent(out) :: request
    integer, optional, intent(out) :: ierror
    call set_error(c_exchange_sized_start(plan%plan, memory(tasks), byte_capacity, memory(sizes), capacity, request), ierror)
  end subroutine

  subroutine topoloom_exchange_test(request, done, ierror)
    type(topoloom_exchange_request), intent(in) :: request
    logical, intent(out) :: done
    integer, optional, intent(out) :: ierror
    integer(c_int) :: flag
    flag = 0
    call set_error(c_exchange_test(request, flag), ierror)
    done = flag /= 0
  end subroutine

  subroutine topoloom_exchange_finish(request, held, ierror)
    type(topoloom_exchange_request), intent(inout) :: request
    integer(c_long_long), intent(out) :: held
    integer, optional, intent(out) :: ierror
    held = 0
    call set_error(c_exchange_finish(request, held), ierror)
  end subroutine

  subroutine topoloom_balance_error(status, text)
    integer, intent(in) :: status
    character(*), intent(out) :: text
    text = ''
    call c_balance_error(status, text, len(text))
  end subroutine

  subroutine set_error(status, ierror)
    integer(c_int), intent(in) :: status
    integer, optional, intent(out) :: ierror
    if (present(ierror)) ierror = status
  end subroutine

  !> Returns the address of a contiguous array, otherwise null, which is an error if there are tasks.
  function memory(tasks) result(where)
    type(*), dimension(..), target, intent(in) :: tasks
    type(c_ptr) :: where
    where = c_null_ptr
    if (is_contiguous(tasks)) where = c_loc(tasks)
  end function

  function to_c_string(fortran_text) result(c_string)
    character(:), allocatable, intent(in) :: fortran_text
    character(:), allocatable :: c_string
    c_string = c_null_char
    if (allocated(fortran_text)) c_string = trim(fortran_text)//c_null_char
  end function
end module
