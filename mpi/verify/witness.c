// SPDX-License-Identifier: BSD-3-Clause
// At start-up: rank 0 leaves beside the plan, in the folder that TOPOLOOM_VERIFY names, where each rank is.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "shim.h"

const struct shim shim = {"verify", "TOPOLOOM_VERIFY", "not verified", NULL};

static const char* const names[] = {"ok", "unbound", "cpus", "host"};  // in the order of `enum verdict`

/// A line a rank: rank host cpus cpu verdict, and words for people if it is not well.
static bool write_report(const char* folder, const struct bindings* bindings, const struct testimonies* all) {
    char name[4096], unfinished[4096 + 8];
    // Several programs of a command may have the same PID, on different hosts.
    const int length =
        snprintf(name, sizeof name, "%s/report-%s-%ld", folder, testimony_of(all, 0).host, (long)getpid());
    if (length < 0 || length >= (int)sizeof name) return false;
    snprintf(unfinished, sizeof unfinished, "%s/.%s", folder, name + strlen(folder) + 1);
    FILE* file = fopen(unfinished, "we");
    if (file == NULL) return false;
    fprintf(file, "# topoloom-verify 1: rank host cpus cpu verdict\n");
    for (int rank = 0; rank < all->count; ++rank) {
        const struct testimony found = testimony_of(all, rank);
        const enum verdict verdict =
            rank < bindings->rank_count ? compare(bindings, rank, &found) : VERDICT_HOST;
        fprintf(file, "%d %s %s %s %s ", rank, found.host, found.cpus, found.cpu, names[verdict]);
        if (rank < bindings->rank_count) explain(file, verdict, bindings, rank, &found);
        fputc('\n', file);
    }
    const bool written = ferror(file) == 0;
    return fclose(file) == 0 && written && rename(unfinished, name) == 0;
}

static void report(const char* folder, const struct testimonies* all) {
    char file[4096], why[4200] = "not enough memory";
    struct bindings bindings = {0};
    snprintf(file, sizeof file, "%s/plan", folder);
    if (all->text == NULL || !bindings_read(file, &bindings, why, sizeof why)) {
        fprintf(stderr, "topoloom: not verified: %s\n", why);
        return;
    }
    tell_uncompared(stderr, &bindings);
    if (!write_report(folder, &bindings, all)) {
        fprintf(stderr, "topoloom: host %s cannot write into %s: %s\n", testimony_of(all, 0).host, folder,
                strerror(errno));
        tell_elsewhere(stderr, &bindings, all);
    }
    bindings_free(&bindings);
}

void seats_start(void) {
    char* folder = getenv(shim.variable) == NULL ? NULL : strdup(getenv(shim.variable));
    MPI_Comm parent = MPI_COMM_NULL, own = MPI_COMM_NULL;
    unsetenv(shim.variable);  // jobs that the program starts itself are not meant
    PMPI_Comm_get_parent(&parent);
    // The plan is not for those who were spawned. A shim behind us may have renumbered the world: we see it, too.
    if (folder != NULL && parent == MPI_COMM_NULL && PMPI_Comm_dup(MPI_COMM_WORLD, &own) == MPI_SUCCESS) {
        int rank = 0;
        PMPI_Comm_rank(own, &rank);
        struct testimonies all = testimonies_gather(own);
        PMPI_Comm_free(&own);
        if (rank == 0) report(folder, &all);
        free(all.text);
    }
    free(folder);
}
