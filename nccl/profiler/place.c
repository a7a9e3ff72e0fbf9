// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE  // for RTLD_DEFAULT
#include "place.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static char host_[256];

static void find_host(void) {
    if (gethostname(host_, sizeof host_ - 1) != 0 || *host_ == '\0') host_[0] = '?';
    for (char* at = host_; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '-' && *at != '.') *at = '_';
}

const char* place_host(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_host);
    return host_;
}

/// Find a function of a library that the process has loaded, maybe out of our sight.
static void* loaded(const char* library, const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    void* handle = found == NULL ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return handle != NULL ? dlsym(handle, name) : found;
}

int place_device(void) {
    const char* const known[][2] = {{"libcuda.so.1", "cuCtxGetDevice"}, {"libamdhip64.so", "hipGetDevice"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int (*ask)(int*);
        int device = -1;
        *(void**)&ask = loaded(known[i][0], known[i][1]);
        if (ask != NULL && ask(&device) == 0) return device;
    }
    return -1;
}

static int number(const char* name) {
    const char* text = getenv(name);
    char* end;
    const long value = text != NULL ? strtol(text, &end, 10) : -1;
    return value >= 0 && value < 1 << 30 && end != text && *end == '\0' ? (int)value : -1;
}

int place_in_job(int* rank, int* size) {
    const char* const known[][2] = {{"RANK", "WORLD_SIZE"},
                                    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                    {"PMI_RANK", "PMI_SIZE"},
                                    {"SLURM_PROCID", "SLURM_NTASKS"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *rank = number(known[i][0]);
        *size = number(known[i][1]);
        if (*rank >= 0 && *rank < *size) return 1;
    }
    return 0;
}
