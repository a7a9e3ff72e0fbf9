// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE  // for RTLD_DEFAULT
#include "process_info.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static char host_[256];

static void read_host_name(void) {
    if (gethostname(host_, sizeof host_ - 1) != 0 || *host_ == '\0') host_[0] = '?';
    for (char* at = host_; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '-' && *at != '.') *at = '_';
}

const char* get_host_name(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_host_name);
    return host_;
}

/// Finds a function of a loaded library, even if the library's symbols are not global.
static void* find_function(const char* library, const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    void* handle = found == NULL ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return handle != NULL ? dlsym(handle, name) : found;
}

int find_current_gpu(void) {
    const char* const functions[][2] = {{"libcuda.so.1", "cuCtxGetDevice"},
                                        {"libamdhip64.so", "hipGetDevice"}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        int (*get_device)(int*);
        int device = -1;
        *(void**)&get_device = find_function(functions[i][0], functions[i][1]);
        if (get_device != NULL && get_device(&device) == 0) return device;
    }
    return -1;
}

static int read_number(const char* name) {
    const char* text = getenv(name);
    char* end;
    const long value = text != NULL ? strtol(text, &end, 10) : -1;
    return value >= 0 && value < 1 << 30 && end != text && *end == '\0' ? (int)value : -1;
}

int read_rank_and_size(int* rank, int* size) {
    const char* const variables[][2] = {{"RANK", "WORLD_SIZE"},
                                        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                        {"PMI_RANK", "PMI_SIZE"},
                                        {"SLURM_PROCID", "SLURM_NTASKS"}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        *rank = read_number(variables[i][0]);
        *size = read_number(variables[i][1]);
        if (*rank >= 0 && *rank < *size) return 1;
    }
    return 0;
}
