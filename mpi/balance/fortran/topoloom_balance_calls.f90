! SPDX-License-Identifier: BSD-3-Clause
! Interfaces of the C functions in balance_f.c and topoloom_balance.h.
module topoloom_balance_calls
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_long_long, c_null_ptr, c_ptr
  implicit none
  public

  !> An exchange in progress.
  type, bind(C) :: topoloom_exchange_request
    type(c_ptr) :: state = c_null_ptr
  end type

  type, bind(C) :: c_options
    type(c_ptr) :: method = c_null_ptr, machine = c_null_ptr
    integer(c_int) :: slot = 0, decide = 0
    real(c_double) :: message_s = 0, byte_s = 0, stall_timeout = 0
    integer(c_int) :: reserve_capacity = 0
  end type

  type, bind(C) :: c_plan
    integer(c_long_long) :: before, after, kept
    integer(c_int) :: to_count, from_count
    type(c_ptr) :: to, from, tasks_to, tasks_from
  end type

  interface
    integer(c_int) function c_balance(comm, count, method, machine, options, plan) &
        bind(C, name='topoloom_balance_f')
      import :: c_char, c_int, c_long_long, c_options, c_ptr
      integer(c_int), value :: comm
      integer(c_long_long), value :: count
      character(kind=c_char), intent(in) :: method(*), machine(*)
      type(c_options), value :: options
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function c_plan_create(comm, count, to_count, to, tasks_to, options, plan) &
        bind(C, name='topoloom_plan_create_f')
      import :: c_int, c_long_long, c_options, c_ptr
      integer(c_int), value :: comm, to_count
      integer(c_long_long), value :: count
      integer(c_int), intent(in) :: to(*)
      integer(c_long_long), intent(in) :: tasks_to(*)
      type(c_options), value :: options
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function c_plan_free(plan) bind(C, name='topoloom_plan_free')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function c_exchange(plan, tasks, task_bytes, capacity, held) bind(C, name='topoloom_exchange')
      import :: c_int, c_long_long, c_ptr
      type(c_ptr), value :: plan, tasks
      integer(c_int), value :: task_bytes
      integer(c_long_long), value :: capacity
      integer(c_long_long), intent(inout) :: held
    end function
    integer(c_int) function c_exchange_sized(plan, tasks, byte_capacity, sizes, capacity, held) &
        bind(C, name='topoloom_exchange_sized')
      import :: c_int, c_long_long, c_ptr
      type(c_ptr), value :: plan, tasks
      integer(c_long_long), value :: byte_capacity, capacity
      integer(c_long_long), intent(inout) :: sizes(*), held
    end function
    integer(c_int) function c_exchange_start(plan, tasks, task_bytes, capacity, request) &
        bind(C, name='topoloom_exchange_start')
      import :: c_int, c_long_long, c_ptr, topoloom_exchange_request
      type(c_ptr), value :: plan, tasks
      integer(c_int), value :: task_bytes
      integer(c_long_long), value :: capacity
      type(topoloom_exchange_request), intent(inout) :: request
    end function
    integer(c_int) function c_exchange_sized_start(plan, tasks, byte_capacity, sizes, capacity, request) &
        bind(C, name='topoloom_exchange_sized_start')
      import :: c_int, c_long_long, c_ptr, topoloom_exchange_request
      type(c_ptr), value :: plan, tasks, sizes
      integer(c_long_long), value :: byte_capacity, capacity
      type(topoloom_exchange_request), intent(inout) :: request
    end function
    integer(c_int) function c_exchange_test(request, done) bind(C, name='topoloom_exchange_test')
      import :: c_int, topoloom_exchange_request
      type(topoloom_exchange_request), value :: request
      integer(c_int), intent(inout) :: done
    end function
    integer(c_int) function c_exchange_finish(request, held) bind(C, name='topoloom_exchange_finish')
      import :: c_int, c_long_long, topoloom_exchange_request
      type(topoloom_exchange_request), intent(inout) :: request
      integer(c_long_long), intent(inout) :: held
    end function
    subroutine c_balance_error(status, text, length) bind(C, name='topoloom_balance_error_f')
      import :: c_char, c_int
      integer(c_int), value :: status, length
      character(kind=c_char), intent(inout) :: text(*)
    end subroutine
  end interface
end module
