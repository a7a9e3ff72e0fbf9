// SPDX-License-Identifier: BSD-3-Clause
// A program of another MPI than the one we were compiled for must run as if we were not there.
//
// Handles are pointers in Open MPI and integers in the MPICH family, so even wrappers that only forward would
// break it. Before main, such a process starts itself again without us.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

/// Before main no MPI can be asked anything, but the linker can: beside the library that we brought along there is
/// no other. (Which of two the program's calls go to depends on how far behind it each of them is.)
static bool is_the_mpi_we_were_built_for(void) {
    const char* const name = "PMPI_Get_version";
    Dl_info self, mpi;
    if (dladdr(&shim, &self) == 0) return true;
    void* const handle = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void* const ours = handle == NULL ? NULL : dlsym(handle, name);
    return ours == NULL || dladdr(ours, &mpi) == 0 || other_symbol(name, mpi.dli_fbase) == NULL;
}

/// Leaves in LD_PRELOAD what is not ours.
static void leave_preload(void) {
    const char* preload = getenv("LD_PRELOAD");
    char *words = preload == NULL ? NULL : strdup(preload),
         *rest = words == NULL ? NULL : malloc(strlen(words) + 1);
    char ours[64];
    snprintf(ours, sizeof ours, "/topoloom/%s-", shim.name);
    if (rest == NULL) {
        unsetenv("LD_PRELOAD");
        return;
    }
    rest[0] = '\0';
    for (char* word = strtok(words, ": "); word != NULL; word = strtok(NULL, ": ")) {
        if (strstr(word, ours) != NULL) continue;
        if (rest[0] != '\0') strcat(rest, ":");
        strcat(rest, word);
    }
    setenv("LD_PRELOAD", rest, 1);
    free(words);
    free(rest);
}

bool launched_as_rank_0(void) {
    static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char* rank = getenv(names[i]);
        if (rank != NULL) return strcmp(rank, "0") == 0;
    }
    return false;
}

__attribute__((constructor)) static void leave_other_mpi_alone(int argc, char** argv) {
    (void)argc;
    if (getenv(shim.variable) == NULL || is_the_mpi_we_were_built_for()) return;
    if (launched_as_rank_0())
        fprintf(stderr,
                "topoloom: %s: the program uses another MPI than we were compiled for; name its mpicc with "
                "--mpicc\n",
                shim.undone);
    if (shim.other_mpi != NULL) shim.other_mpi();
    leave_preload();
    unsetenv(shim.variable);
    execv("/proc/self/exe", argv);
}
