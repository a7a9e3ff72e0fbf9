// SPDX-License-Identifier: BSD-3-Clause
// Gathers the host, the affinity and the current CPU of each process on rank 0.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process_map.h"

/// Writes host, CPUs and current CPU as three consecutive strings. Returns their length with terminators, or -1 on
/// failure.
static int describe_process(char** text) {
    char host[256] = "";
    struct cpu_set cpus;
    gethostname(host, sizeof host - 1);
    get_thread_cpus(&cpus);
    char* formatted = format_cpus(&cpus);
    const int length =
        formatted == NULL ? -1 : asprintf(text, "%s%c%s%c%d", host, '\0', formatted, '\0', sched_getcpu());
    free(formatted);
    return length < 0 ? -1 : length + 1;
}

struct affinity_report gather_affinities(MPI_Comm comm) {
    struct affinity_report report = {0};
    char *text = NULL, *padded = NULL;
    int rank = 0, all_ready = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &report.count);
    const int length = describe_process(&text);
    // Contributions are padded to equal sizes, because MPI libraries gather along a tree only in that case.
    PMPI_Allreduce(&length, &report.width, 1, MPI_INT, MPI_MAX, comm);
    if (length > 0) padded = calloc(1, (size_t)report.width);
    if (rank == 0 && padded != NULL) report.text = malloc((size_t)report.count * (size_t)report.width);
    const int ready = padded != NULL && (rank != 0 || report.text != NULL);
    PMPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, comm);
    if (all_ready) {
        memcpy(padded, text, (size_t)length);
        PMPI_Gather(padded, report.width, MPI_CHAR, report.text, report.width, MPI_CHAR, 0, comm);
    } else {
        free(report.text);
        report.text = NULL;
    }
    free(padded);
    free(text);
    return report;
}

struct affinity get_affinity(const struct affinity_report* report, int rank) {
    const char* host = report->text + (size_t)rank * (size_t)report->width;
    const char* cpus = host + strlen(host) + 1;
    return (struct affinity){host, cpus, cpus + strlen(cpus) + 1};
}
