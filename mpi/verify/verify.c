// SPDX-License-Identifier: BSD-3-Clause
// Lets programs verify their own placement.
#include "topoloom_verify.h"

#include <stdlib.h>

#include "compare.h"

static int compare_with_plan(const struct affinity_report* report, const char* file, FILE* out) {
    struct bindings bindings;
    char error[512] = "not enough memory";
    if (report->text == NULL || !read_bindings(file, &bindings, error, sizeof error)) {
        fprintf(out, "topoloom: not verified: %s\n", error);
        return -1;
    }
    print_uncompared_hosts(out, &bindings);
    const int misplaced = print_misplaced_ranks(out, &bindings, report);
    free_bindings(&bindings);
    return misplaced;
}

int topoloom_verify(MPI_Comm comm, const char* plan, FILE* out) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Group group;
    int is_inter = 0, rank = 0, misplaced = -1;
    if (MPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS) return -1;
    if (is_inter) {
        MPI_Comm_rank(comm, &rank);
        if (rank == 0) fputs("topoloom: not verified: an intercommunicator has two groups\n", out);
        return -1;
    }
    // Unlike MPI_Comm_dup, MPI_Comm_create does not copy attributes of the program.
    if (MPI_Comm_group(comm, &group) != MPI_SUCCESS) return -1;
    MPI_Comm_create(comm, group, &own);
    MPI_Group_free(&group);
    if (own == MPI_COMM_NULL) return -1;
    struct affinity_report report = gather_affinities(own);
    PMPI_Comm_rank(own, &rank);
    if (rank == 0) misplaced = compare_with_plan(&report, plan, out);
    PMPI_Bcast(&misplaced, 1, MPI_INT, 0, own);
    PMPI_Comm_free(&own);
    free(report.text);
    return misplaced;
}
