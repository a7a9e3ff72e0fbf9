// SPDX-License-Identifier: BSD-3-Clause
// For programs that ask themselves.
#include "topoloom_verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "compare.h"

int tell_elsewhere(FILE* out, const struct bindings* bindings, const struct testimonies* all) {
    if (bindings->rank_count != all->count) {
        fprintf(out, "topoloom: the plan is for %d ranks, but there are %d\n", bindings->rank_count,
                all->count);
        return all->count;
    }
    int elsewhere = 0;
    for (int rank = 0; rank < all->count; ++rank) {
        const struct testimony found = testimony_of(all, rank);
        const enum verdict verdict = compare(bindings, rank, &found);
        if (verdict == VERDICT_OK) continue;
        ++elsewhere;
        // In one piece, or what other ranks print gets into the line.
        char line[1024] = "";
        FILE* const buffer = fmemopen(line, sizeof line, "w");
        FILE* const text = buffer != NULL ? buffer : out;
        fputs("topoloom: ", text);
        explain(text, verdict, bindings, rank, &found);
        fputc('\n', text);
        if (buffer != NULL) fclose(buffer);
        fputs(line, out);
    }
    return elsewhere;
}

static int judge(const struct testimonies* all, const char* file, FILE* out) {
    struct bindings bindings;
    char why[512] = "not enough memory";
    if (all->text == NULL || !bindings_read(file, &bindings, why, sizeof why)) {
        fprintf(out, "topoloom: not verified: %s\n", why);
        return -1;
    }
    tell_uncompared(out, &bindings);
    const int elsewhere = tell_elsewhere(out, &bindings, all);
    bindings_free(&bindings);
    return elsewhere;
}

int topoloom_verify(MPI_Comm comm, const char* plan, FILE* out) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Group group;
    int is_inter = 0, rank = 0, answer = -1;
    if (MPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS) return -1;
    if (is_inter) {
        MPI_Comm_rank(comm, &rank);
        if (rank == 0) fputs("topoloom: not verified: an intercommunicator has two groups\n", out);
        return -1;
    }
    // Unlike a duplicate it takes none of the program's attributes along.
    if (MPI_Comm_group(comm, &group) != MPI_SUCCESS) return -1;
    MPI_Comm_create(comm, group, &own);
    MPI_Group_free(&group);
    if (own == MPI_COMM_NULL) return -1;
    struct testimonies all = testimonies_gather(own);
    PMPI_Comm_rank(own, &rank);
    if (rank == 0) answer = judge(&all, plan, out);
    PMPI_Bcast(&answer, 1, MPI_INT, 0, own);
    PMPI_Comm_free(&own);
    free(all.text);
    return answer;
}
