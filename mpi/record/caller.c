// SPDX-License-Identifier: BSD-3-Clause
// Detects calls made by MPI itself: its I/O library (ROMIO) calls PMPI_ functions, and MPI calls exit after an error.
#define _GNU_SOURCE
#include <link.h>
#include <string.h>

#include "record.h"

struct loaded_object {
    uintptr_t first, last;
    bool is_mpi;
};

struct address_search {
    uintptr_t address, mpi_address;
    struct loaded_object found;
};

static bool contains_address(uintptr_t address, const struct loaded_object* object) {
    return address >= object->first && address < object->last;
}

static int match_object(struct dl_phdr_info* loaded, size_t size, void* data) {
    (void)size;
    struct address_search* search = data;
    struct loaded_object object = {UINTPTR_MAX, 0, false};
    for (int i = 0; i < loaded->dlpi_phnum; ++i) {
        const ElfW(Phdr)* segment = &loaded->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD) continue;
        const uintptr_t first = loaded->dlpi_addr + segment->p_vaddr, last = first + segment->p_memsz;
        if (first < object.first) object.first = first;
        if (last > object.last) object.last = last;
    }
    if (!contains_address(search->address, &object)) return 0;
    // Open MPI consists of several libraries and plug-ins.
    const char* name = loaded->dlpi_name == NULL ? "" : loaded->dlpi_name;
    object.is_mpi = contains_address(search->mpi_address, &object) || strstr(name, "/mca_") != NULL ||
                    strstr(name, "/libopen-") != NULL;
    search->found = object;
    return 1;
}

bool is_called_by_mpi(const void* caller) {
    static _Thread_local struct loaded_object last;
    const uintptr_t address = (uintptr_t)caller;
    if (contains_address(address, &last)) return last.is_mpi;
    struct address_search search = {address, (uintptr_t)find_next_symbol("PMPI_Get_version"), {0}};
    dl_iterate_phdr(match_object, &search);
    last = search.found;
    return last.is_mpi;
}
