// SPDX-License-Identifier: BSD-3-Clause
// Fortran's side: the MPI library's own binding behind ours, and its MPI_IN_PLACE.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "record.h"

struct wanted {
    const char* name;
    const void* ours;
    void* found;
};

/// MPI may have been loaded privately by a plug-in (a Python extension in Fortran): look into every loaded
/// object.
static int look_into(struct dl_phdr_info* object, size_t size, void* data) {
    (void)size;
    struct wanted* wanted = data;
    if (object->dlpi_name == NULL || object->dlpi_name[0] == '\0') return 0;
    void* handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL) return 0;
    Dl_info where;
    void* symbol = dlsym(handle, wanted->name);
    if (symbol != NULL && dladdr(symbol, &where) != 0 && where.dli_fbase != wanted->ours)
        wanted->found = symbol;
    dlclose(handle);
    return wanted->found != NULL;
}

void* next_symbol(const char* name) {
    void* symbol = dlsym(RTLD_NEXT, name);
    if (symbol != NULL) return symbol;
    Dl_info self;
    struct wanted wanted = {name, NULL, NULL};
    if (dladdr((const void*)&record_active, &self) != 0) wanted.ours = self.dli_fbase;
    dl_iterate_phdr(look_into, &wanted);
    if (wanted.found != NULL) return wanted.found;
    fprintf(stderr, "topoloom: undefined symbol: %s\n", name);
    exit(127);
}

/// Open MPI: the address of a common block. MPICH family: a variable that holds the address.
const void* fortran_in_place(void) {
    static const void* address;
    static bool looked;
    if (!looked) {
        address = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
        void* const* variable = dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE");
        if (address == NULL && variable != NULL) address = *variable;
        looked = true;
    }
    return address;
}
