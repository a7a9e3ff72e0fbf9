// SPDX-License-Identifier: BSD-3-Clause
// Shared by all libraries that LD_PRELOAD puts before MPI.
#ifndef TOPOLOOM_SHIM_H
#define TOPOLOOM_SHIM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if MPI_VERSION < 3
#error "Topoloom needs MPI 3.0 or newer"
#endif

// LD_PRELOAD loads the library into many processes: it exports only the functions that it wraps.
#define SHIM_EXPORT __attribute__((visibility("default")))

/// A preloaded library.
struct shim {
    const char* name;            // of its folder; the library is called NAME-*.so
    const char* variable;        // the environment variable that enables it
    const char* undone;          // the consequence in a program of another MPI, such as "not recorded"
    void (*on_other_mpi)(void);  // called in such a program; NULL = nothing
};

/// Restarts the process without the library if its MPI is not the one that the library was compiled for.
/// Call it from a constructor.
void leave_other_mpi(const struct shim* shim, char** argv);

/// The next definition of `name` after this library's. Exits with status 127 if there is none, as the linker would.
void* next_symbol(const char* name);
/// Declares `next`, the next definition of a function of the given type. Thread-safe; looks it up once.
#define NEXT(name, type)                                                    \
    static __typeof__(type) next_found;                                     \
    __typeof__(type) next = __atomic_load_n(&next_found, __ATOMIC_RELAXED); \
    if (next == NULL) {                                                     \
        next = (__typeof__(type))(uintptr_t)next_symbol(#name);             \
        __atomic_store_n(&next_found, next, __ATOMIC_RELAXED);              \
    }                                                                       \
    _Static_assert(1, "")
/// A definition outside of the library that starts at `base`; NULL = none.
void* other_symbol(const char* name, const void* base);

/// By the launcher's environment variables, for use before MPI_Init.
bool is_launched_as_rank_0(void);

static inline bool fortran_ok(const MPI_Fint* error) { return error == NULL || *error == MPI_SUCCESS; }

#endif
