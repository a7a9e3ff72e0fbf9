// SPDX-License-Identifier: BSD-3-Clause
// Finds the address that Fortran programs pass as MPI_IN_PLACE.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "record.h"

// Open MPI: address of a common block. MPICH family: value of a pointer variable.
const void* get_fortran_in_place(void) {
    static const void* address;
    static bool searched;
    if (!searched) {
        address = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
        void* const* variable = dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE");
        if (address == NULL && variable != NULL) address = *variable;
        searched = true;
    }
    return address;
}
