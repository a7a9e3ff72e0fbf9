// SPDX-License-Identifier: BSD-3-Clause
// Finds the next definition of a function, independent of how the program's MPI was loaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "shim.h"

struct symbol_search {
    const char* name;
    const void* excluded;  // base address of the library to skip
    void* found;
};

/// Searches one loaded object. RTLD_NEXT misses an MPI that was loaded privately by a plug-in (such as a Python
/// extension in Fortran).
static int search_object(struct dl_phdr_info* object, size_t size, void* data) {
    (void)size;
    struct symbol_search* search = data;
    if (object->dlpi_name == NULL || object->dlpi_name[0] == '\0') return 0;
    void* handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL) return 0;
    Dl_info where;
    void* symbol = dlsym(handle, search->name);
    if (symbol != NULL && dladdr(symbol, &where) != 0 && where.dli_fbase != search->excluded)
        search->found = symbol;
    dlclose(handle);
    return search->found != NULL;
}

void* find_symbol_outside(const char* name, const void* base) {
    struct symbol_search search = {name, base, NULL};
    dl_iterate_phdr(search_object, &search);
    return search.found;
}

void* find_next_symbol(const char* name) {
    void* symbol = dlsym(RTLD_NEXT, name);
    if (symbol != NULL) return symbol;
    static const char here;
    Dl_info self = {0};
    dladdr(&here, &self);
    symbol = find_symbol_outside(name, self.dli_fbase);
    if (symbol != NULL) return symbol;
    fprintf(stderr, "topoloom: undefined symbol: %s\n", name);
    exit(127);
}
