// SPDX-License-Identifier: BSD-3-Clause
// The definition of a function behind ours, wherever the program's MPI was loaded from.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "shim.h"

struct wanted {
    const char* name;
    const void* library;  // where it is not wanted
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
    if (symbol != NULL && dladdr(symbol, &where) != 0 && where.dli_fbase != wanted->library)
        wanted->found = symbol;
    dlclose(handle);
    return wanted->found != NULL;
}

void* other_symbol(const char* name, const void* library) {
    struct wanted wanted = {name, library, NULL};
    dl_iterate_phdr(look_into, &wanted);
    return wanted.found;
}

void* next_symbol(const char* name) {
    void* symbol = dlsym(RTLD_NEXT, name);
    if (symbol != NULL) return symbol;
    Dl_info self = {0};
    dladdr(&shim, &self);
    symbol = other_symbol(name, self.dli_fbase);
    if (symbol != NULL) return symbol;
    fprintf(stderr, "topoloom: undefined symbol: %s\n", name);
    exit(127);
}
