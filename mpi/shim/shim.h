// SPDX-License-Identifier: BSD-3-Clause
// What every library needs that LD_PRELOAD puts before MPI: who it is, and what stands behind it.
#ifndef TOPOLOOM_SHIM_H
#define TOPOLOOM_SHIM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if MPI_VERSION < 3
#error "Topoloom needs MPI 3.0 or newer"
#endif

// The library is inside every process that LD_PRELOAD reaches; only the MPI calls themselves may be seen from
// outside.
#define SHIM_EXPORT __attribute__((visibility("default")))

/// Each shim defines one.
struct shim {
    const char* name;         // its folder's; its library is called NAME-*.so
    const char* variable;     // of the environment: without it the shim does nothing
    const char* undone;       // what does not happen in a program of another MPI, as in "not recorded"
    void (*other_mpi)(void);  // what else to do there; NULL = nothing
};
extern const struct shim shim;

/// The definition behind ours, so that shims may follow each other; ends the program if there is none, as the
/// linker would.
void* next_symbol(const char* name);
/// Declares `next`, the definition behind ours of a function that has a type; looked up once, whichever threads call it.
#define NEXT(name, type)                                                    \
    static __typeof__(type) next_found;                                     \
    __typeof__(type) next = __atomic_load_n(&next_found, __ATOMIC_RELAXED); \
    if (next == NULL) {                                                     \
        next = (__typeof__(type))(uintptr_t)next_symbol(#name);             \
        __atomic_store_n(&next_found, next, __ATOMIC_RELAXED);              \
    }                                                                       \
    _Static_assert(1, "")
/// A definition outside of one library, given by where it starts; NULL = none.
void* other_symbol(const char* name, const void* library);

/// Where MPI cannot be asked yet.
bool launched_as_rank_0(void);

static inline bool fortran_ok(const MPI_Fint* error) { return error == 0 || *error == MPI_SUCCESS; }

#endif
