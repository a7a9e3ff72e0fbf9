// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: at startup, rank 0 writes the location of each rank into the folder named by TOPOLOOM_VERIFY, which
// contains the plan.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "shim.h"
#include "wait_for_ranks.h"

static const struct shim shim_ = {"verify", "TOPOLOOM_VERIFY", "not verified", NULL};

static const char* const verdict_names_[] = {"ok", "unbound", "cpus", "host"};

/// Writes a line per rank: rank host cpus cpu verdict, and an explanation unless the verdict is ok.
static bool write_report(const char* folder, const struct bindings* bindings,
                         const struct affinity_report* report) {
    char name[4096], unfinished[4096 + 8];
    // The name contains the host, because processes on different hosts may have the same PID.
    const int length =
        snprintf(name, sizeof name, "%s/report-%s-%ld", folder, get_affinity(report, 0).host, (long)getpid());
    if (length < 0 || length >= (int)sizeof name) return false;
    snprintf(unfinished, sizeof unfinished, "%s/.%s", folder, name + strlen(folder) + 1);
    FILE* file = fopen(unfinished, "we");
    if (file == NULL) return false;
    fprintf(file, "# topoloom-verify 1: rank host cpus cpu verdict\n");
    for (int rank = 0; rank < report->count; ++rank) {
        const struct affinity actual = get_affinity(report, rank);
        const bool is_planned = rank < bindings->rank_count;
        const enum verdict verdict = is_planned ? compare_rank(bindings, rank, &actual) : VERDICT_HOST;
        fprintf(file, "%d %s %s %s %s ", rank, actual.host, actual.cpus, actual.cpu, verdict_names_[verdict]);
        if (is_planned) print_verdict(file, verdict, bindings, rank, &actual);
        fputc('\n', file);
    }
    const bool written = ferror(file) == 0;
    return fclose(file) == 0 && written && rename(unfinished, name) == 0;
}

static void report_locations(const char* folder, const struct affinity_report* report) {
    char file[4096], error[4200] = "not enough memory";
    struct bindings bindings = {0};
    snprintf(file, sizeof file, "%s/plan", folder);
    if (report->text == NULL || !read_bindings(file, &bindings, error, sizeof error)) {
        fprintf(stderr, "topoloom: not verified: %s\n", error);
        return;
    }
    print_uncompared_hosts(stderr, &bindings);
    if (!write_report(folder, &bindings, report)) {
        fprintf(stderr, "topoloom: host %s cannot write into %s: %s\n", get_affinity(report, 0).host, folder,
                strerror(errno));
        print_misplaced_ranks(stderr, &bindings, report);
    }
    free_bindings(&bindings);
}

static void verify_job(void) {
    char* folder = getenv(shim_.variable) == NULL ? NULL : strdup(getenv(shim_.variable));
    MPI_Comm parent = MPI_COMM_NULL, own = MPI_COMM_NULL;
    unsetenv(shim_.variable);  // removed, so that jobs started by the program are not verified
    PMPI_Comm_get_parent(&parent);
    // Spawned processes are not in the plan. PMPI_ functions use the communicator that the next shim may have
    // renumbered.
    if (folder != NULL && parent == MPI_COMM_NULL && wait_for_all_ranks(&shim_) == MPI_SUCCESS &&
        PMPI_Comm_dup(MPI_COMM_WORLD, &own) == MPI_SUCCESS) {
        int rank = 0;
        PMPI_Comm_rank(own, &rank);
        struct affinity_report report = gather_affinities(own);
        PMPI_Comm_free(&own);
        if (rank == 0) report_locations(folder, &report);
        free(report.text);
    }
    free(folder);
}

__attribute__((constructor)) static void load(int argc, char** argv) {
    (void)argc;
    restart_if_other_mpi(&shim_, argv);
    register_init_hook(verify_job);
}
