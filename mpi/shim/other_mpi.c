// SPDX-License-Identifier: BSD-3-Clause
// Disables the library in programs that use another MPI than the library was compiled for.
//
// Handles are pointers in Open MPI and integers in the MPICH family, so even wrappers that only forward calls would
// break such a program. Before main, the process executes itself again without the library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

/// Whether the program uses the MPI for which this library was compiled, that is, no other MPI is loaded. If
/// two are loaded, the link order decides which one the program calls.
static bool is_our_mpi(void) {
    const char* const name = "PMPI_Get_version";
    static const char here;
    Dl_info self, mpi;
    if (dladdr(&here, &self) == 0) return true;
    void* const handle = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void* const ours = handle == NULL ? NULL : dlsym(handle, name);
    return ours == NULL || dladdr(ours, &mpi) == 0 || find_symbol_outside(name, mpi.dli_fbase) == NULL;
}

static void remove_from_preload(const struct shim* shim) {
    const char* preload = getenv("LD_PRELOAD");
    char *libraries = preload == NULL ? NULL : strdup(preload),
         *rest = libraries == NULL ? NULL : malloc(strlen(libraries) + 1);
    char ours[64];
    snprintf(ours, sizeof ours, "/topoloom/%s-", shim->name);
    if (rest == NULL) {
        unsetenv("LD_PRELOAD");
        return;
    }
    rest[0] = '\0';
    for (char* library = strtok(libraries, ": "); library != NULL; library = strtok(NULL, ": ")) {
        if (strstr(library, ours) != NULL) continue;
        if (rest[0] != '\0') strcat(rest, ":");
        strcat(rest, library);
    }
    setenv("LD_PRELOAD", rest, 1);
    free(libraries);
    free(rest);
}

bool is_launched_as_rank_0(void) {
    static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char* rank = getenv(names[i]);
        if (rank != NULL) return strcmp(rank, "0") == 0;
    }
    return false;
}

void restart_if_other_mpi(const struct shim* shim, char** argv) {
    if (getenv(shim->variable) == NULL || is_our_mpi()) return;
    if (is_launched_as_rank_0())
        fprintf(stderr,
                "topoloom: %s: the program uses another MPI than the preloaded library; name its mpicc with "
                "--mpicc\n",
                shim->undone);
    if (shim->on_other_mpi != NULL) shim->on_other_mpi();
    remove_from_preload(shim);
    unsetenv(shim->variable);
    execv("/proc/self/exe", argv);
}
