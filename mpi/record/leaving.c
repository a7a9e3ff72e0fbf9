// SPDX-License-Identifier: BSD-3-Clause
// Ways out of a program, or out of an MPI call, that MPI does not see.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include "record.h"

// Its own errors MPI answers by ending the process. What is registered with atexit may still call MPI_Finalize.
#define LEAVE(name, how, tell)                                                  \
    SHIM_EXPORT __attribute__((noreturn)) void name(int status) {               \
        NEXT(name, void (*)(int));                                              \
        if (record_active) tell(called_by_mpi(CALLER) ? "error" : how, status); \
        next(status);                                                           \
        __builtin_unreachable();                                                \
    }
LEAVE(exit, "exit", partial_leaving)
LEAVE(_exit, "_exit", partial_leave)
LEAVE(_Exit, "_exit", partial_leave)
LEAVE(quick_exit, "quick_exit", partial_leave)

// An error handler may jump out of a call. Where it does, in a signal handler too, dlsym may not be called.
typedef void jump(struct __jmp_buf_tag*, int);
static jump *longjmp_, *_longjmp_, *siglongjmp_, *checked_;

#define JUMP(name, next)                                                                              \
    SHIM_EXPORT __attribute__((noreturn)) void name(struct __jmp_buf_tag environment[1], int value) { \
        record_depth = 0;                                                                             \
        if (next == NULL) next = (jump*)(uintptr_t)next_symbol(#name);                                \
        next(environment, value);                                                                     \
        __builtin_unreachable();                                                                      \
    }
JUMP(longjmp, longjmp_)
JUMP(_longjmp, _longjmp_)
JUMP(siglongjmp, siglongjmp_)
JUMP(__longjmp_chk, checked_)

__attribute__((constructor)) static void find_jumps(void) {
    longjmp_ = (jump*)(uintptr_t)dlsym(RTLD_NEXT, "longjmp");
    _longjmp_ = (jump*)(uintptr_t)dlsym(RTLD_NEXT, "_longjmp");
    siglongjmp_ = (jump*)(uintptr_t)dlsym(RTLD_NEXT, "siglongjmp");
    checked_ = (jump*)(uintptr_t)dlsym(RTLD_NEXT, "__longjmp_chk");
}
