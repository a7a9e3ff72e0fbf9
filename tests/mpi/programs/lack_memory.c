// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: on rank 1, every fifth calloc of the reordering library fails.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void* __libc_calloc(size_t count, size_t size);

static int is_rank_1(void) {
    const char* rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank == NULL) rank = getenv("PMI_RANK");
    return rank != NULL && strcmp(rank, "1") == 0;
}

void* calloc(size_t count, size_t size) {
    static int calls;
    Dl_info caller;
    if (is_rank_1() && dladdr(__builtin_return_address(0), &caller) != 0 &&
        strstr(caller.dli_fname, "/reorder-") != NULL && ++calls % 5 == 0)
        return NULL;
    return __libc_calloc(count, size);
}
