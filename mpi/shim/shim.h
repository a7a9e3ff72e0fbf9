// SPDX-License-Identifier: BSD-3-Clause
// Functions shared by all libraries that are preloaded before MPI.
#ifndef TOPOLOOM_SHIM_H
#define TOPOLOOM_SHIM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if MPI_VERSION < 3
#error "Topoloom needs MPI 3.0 or newer"
#endif

// A preloaded library is loaded into many processes, so it exports only the functions that it wraps.
#define SHIM_EXPORT __attribute__((visibility("default")))

/// A preloaded library.
struct shim {
    const char* name;            // name of the library's folder; its file is called NAME-*.so
    const char* variable;        // environment variable that enables the library
    const char* undone;          // message if the program uses another MPI, such as "not recorded"
    void (*on_other_mpi)(void);  // called if the program uses another MPI; may be NULL
};

/// Restarts the process without the library if the program uses another MPI than the library was compiled for. Must be
/// called from a constructor.
void restart_if_other_mpi(const struct shim* shim, char** argv);

/// Returns the definition of `name` that follows this library's in the search order. Like the linker, exits
/// with status 127 if none is found.
void* find_next_symbol(const char* name);
/// Declares `next`, the next definition of a function, with the given type. Thread-safe; the function is looked up
/// once.
#define NEXT(name, type)                                                    \
    static __typeof__(type) next_found;                                     \
    __typeof__(type) next = __atomic_load_n(&next_found, __ATOMIC_RELAXED); \
    if (next == NULL) {                                                     \
        next = (__typeof__(type))(uintptr_t)find_next_symbol(#name);        \
        __atomic_store_n(&next_found, next, __ATOMIC_RELAXED);              \
    }                                                                       \
    _Static_assert(1, "")
/// Returns a definition outside of the library whose base address is `base`, or NULL.
void* find_symbol_outside(const char* name, const void* base);

/// Reads the launcher's environment variables, so it can be called before MPI_Init.
bool is_launched_as_rank_0(void);

static inline bool is_fortran_success(const MPI_Fint* error) {
    return error == NULL || *error == MPI_SUCCESS;
}

#endif
