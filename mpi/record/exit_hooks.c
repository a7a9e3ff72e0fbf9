// SPDX-License-Identifier: BSD-3-Clause
// Wraps the functions that end the program, or jump out of an MPI call, without notifying MPI.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include "record.h"

// Looked up before main, because dlsym may block on a lock in signal handlers and between fork and exec.
typedef void exit_function(int);
typedef void jump_function(struct __jmp_buf_tag*, int);
static exit_function *next_exit, *next__exit, *next__Exit, *next_quick_exit;
static jump_function *next_longjmp, *next__longjmp, *next_siglongjmp, *next___longjmp_chk;

#define FIND(libc_function, type) next_##libc_function = (type*)(uintptr_t)dlsym(RTLD_NEXT, #libc_function)
__attribute__((constructor)) static void find_next_functions(void) {
    FIND(exit, exit_function);
    FIND(_exit, exit_function);
    FIND(_Exit, exit_function);
    FIND(quick_exit, exit_function);
    FIND(longjmp, jump_function);
    FIND(_longjmp, jump_function);
    FIND(siglongjmp, jump_function);
    FIND(__longjmp_chk, jump_function);
}
// If a library that was initialized earlier calls exit, find_next_functions has not run yet.
#define NEED_NEXT(libc_function, type) \
    if (next_##libc_function == NULL)  \
    next_##libc_function = (type*)(uintptr_t)find_next_symbol(#libc_function)

// MPI calls exit after its own errors. exit only sets the reason, because a function registered with atexit may still
// call MPI_Finalize.
#define EXIT(libc_function, report)                                                                   \
    SHIM_EXPORT __attribute__((noreturn)) void libc_function(int status) {                            \
        NEED_NEXT(libc_function, exit_function);                                                      \
        if (is_crash_dump_due()) report(is_called_by_mpi(CALLER) ? "error" : #libc_function, status); \
        next_##libc_function(status);                                                                 \
        __builtin_unreachable();                                                                      \
    }
EXIT(exit, set_exit_reason)
EXIT(_exit, dump_and_notify)
EXIT(_Exit, dump_and_notify)
EXIT(quick_exit, dump_and_notify)

// Resets the nesting depth of MPI calls, because an error handler may jump out of a call.
#define JUMP(libc_function)                                                                       \
    SHIM_EXPORT __attribute__((noreturn)) void libc_function(struct __jmp_buf_tag environment[1], \
                                                             int value) {                         \
        NEED_NEXT(libc_function, jump_function);                                                  \
        stop_call_timer();                                                                        \
        record_depth = 0;                                                                         \
        next_##libc_function(environment, value);                                                 \
        __builtin_unreachable();                                                                  \
    }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
