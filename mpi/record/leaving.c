// SPDX-License-Identifier: BSD-3-Clause
// Ways out of a program, or out of an MPI call, that MPI does not see.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include "record.h"

// Called in signal handlers and between fork and exec, too, where dlsym may wait for a lock: found before main.
typedef void leave(int);
typedef void jump(struct __jmp_buf_tag*, int);
static leave *next_exit, *next__exit, *next__Exit, *next_quick_exit;
static jump *next_longjmp, *next__longjmp, *next_siglongjmp, *next___longjmp_chk;

#define FIND(name, type) next_##name = (type*)(uintptr_t)dlsym(RTLD_NEXT, #name)
__attribute__((constructor)) static void find_next(void) {
    FIND(exit, leave);
    FIND(_exit, leave);
    FIND(_Exit, leave);
    FIND(quick_exit, leave);
    FIND(longjmp, jump);
    FIND(_longjmp, jump);
    FIND(siglongjmp, jump);
    FIND(__longjmp_chk, jump);
}
// A library that is initialized before us may leave already.
#define NEXT_FOUND(name, type) \
    if (next_##name == NULL) next_##name = (type*)(uintptr_t)next_symbol(#name)

// Its own errors MPI answers by ending the process. What is registered with atexit may still call MPI_Finalize.
#define LEAVE(name, tell)                                                                 \
    SHIM_EXPORT __attribute__((noreturn)) void name(int status) {                         \
        NEXT_FOUND(name, leave);                                                          \
        if (partial_is_expected()) tell(called_by_mpi(CALLER) ? "error" : #name, status); \
        next_##name(status);                                                              \
        __builtin_unreachable();                                                          \
    }
LEAVE(exit, partial_leaving)
LEAVE(_exit, partial_leave)
LEAVE(_Exit, partial_leave)
LEAVE(quick_exit, partial_leave)

// An error handler may jump out of a call.
#define JUMP(name)                                                                                    \
    SHIM_EXPORT __attribute__((noreturn)) void name(struct __jmp_buf_tag environment[1], int value) { \
        NEXT_FOUND(name, jump);                                                                       \
        record_depth = 0;                                                                             \
        next_##name(environment, value);                                                              \
        __builtin_unreachable();                                                                      \
    }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
