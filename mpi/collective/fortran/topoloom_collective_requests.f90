! SPDX-License-Identifier: BSD-3-Clause
! Requests of non-blocking and persistent collectives. Statuses are omitted, because they are empty.
module topoloom_collective_requests
  use, intrinsic :: iso_c_binding, only: c_int
  use topoloom_collective_calls, only: topoloom_request
  implicit none
  private
  public :: topoloom_request, TOPOLOOM_REQUEST_NULL, topoloom_start, topoloom_startall, topoloom_request_free
  public :: topoloom_test, topoloom_testall, topoloom_wait, topoloom_waitall

  type(topoloom_request), parameter :: TOPOLOOM_REQUEST_NULL = topoloom_request()

  interface
    integer(c_int) function c_start(request) bind(C, name='topoloom_start')
      import :: c_int, topoloom_request
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_startall(count, requests) bind(C, name='topoloom_startall')
      import :: c_int, topoloom_request
      integer(c_int), value :: count
      type(topoloom_request), intent(inout) :: requests(*)
    end function
    integer(c_int) function c_test(request, flag) bind(C, name='topoloom_test_f')
      import :: c_int, topoloom_request
      type(topoloom_request), intent(inout) :: request
      integer(c_int), intent(out) :: flag
    end function
    integer(c_int) function c_testall(count, requests, flag) bind(C, name='topoloom_testall_f')
      import :: c_int, topoloom_request
      integer(c_int), value :: count
      type(topoloom_request), intent(inout) :: requests(*)
      integer(c_int), intent(out) :: flag
    end function
    integer(c_int) function c_wait(request) bind(C, name='topoloom_wait_f')
      import :: c_int, topoloom_request
      type(topoloom_request), intent(inout) :: request
    end function
    integer(c_int) function c_waitall(count, requests) bind(C, name='topoloom_waitall_f')
      import :: c_int, topoloom_request
      integer(c_int), value :: count
      type(topoloom_request), intent(inout) :: requests(*)
    end function
    integer(c_int) function c_free(request) bind(C, name='topoloom_request_free')
      import :: c_int, topoloom_request
      type(topoloom_request), intent(inout) :: request
    end function
  end interface

contains

  subroutine topoloom_start(request, ierror)
    type(topoloom_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call set_ierror(c_start(request), ierror)
  end subroutine

  subroutine topoloom_startall(count, requests, ierror)
    integer, intent(in) :: count
    type(topoloom_request), intent(inout) :: requests(count)
    integer, optional, intent(out) :: ierror
    call set_ierror(c_startall(count, requests), ierror)
  end subroutine

  subroutine topoloom_test(request, flag, ierror)
    type(topoloom_request), intent(inout) :: request
    logical, intent(out) :: flag
    integer, optional, intent(out) :: ierror
    integer(c_int) :: done
    call set_ierror(c_test(request, done), ierror)
    flag = done /= 0
  end subroutine

  subroutine topoloom_testall(count, requests, flag, ierror)
    integer, intent(in) :: count
    type(topoloom_request), intent(inout) :: requests(count)
    logical, intent(out) :: flag
    integer, optional, intent(out) :: ierror
    integer(c_int) :: done
    call set_ierror(c_testall(count, requests, done), ierror)
    flag = done /= 0
  end subroutine

  subroutine topoloom_wait(request, ierror)
    type(topoloom_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call set_ierror(c_wait(request), ierror)
  end subroutine

  subroutine topoloom_waitall(count, requests, ierror)
    integer, intent(in) :: count
    type(topoloom_request), intent(inout) :: requests(count)
    integer, optional, intent(out) :: ierror
    call set_ierror(c_waitall(count, requests), ierror)
  end subroutine

  !> Frees an inactive persistent request.
  subroutine topoloom_request_free(request, ierror)
    type(topoloom_request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call set_ierror(c_free(request), ierror)
  end subroutine

  subroutine set_ierror(status, ierror)
    integer(c_int), intent(in) :: status
    integer, optional, intent(out) :: ierror
    if (present(ierror)) ierror = status
  end subroutine

end module
