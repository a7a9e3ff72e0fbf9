// SPDX-License-Identifier: BSD-3-Clause
// topoloom_comm_remap: creates a communicator from a vector of ranks (Karlsson 2012, def. 1, alg. 4.10).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abort_message.h"
#include "remap.h"

int check_comm(MPI_Comm comm, const char* name, const void* newcomm) {
    int is_inter = 0, rank = 0;
    const int status = PMPI_Comm_test_inter(comm, &is_inter);
    if (status != MPI_SUCCESS || (newcomm != NULL && !is_inter)) return status;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0)
        print_before_abort("topoloom: topoloom_%s: %s\n", name,
                           is_inter ? "an intercommunicator has two groups" : "newcomm is null");
    const int error_class = is_inter ? MPI_ERR_COMM : MPI_ERR_ARG;
    PMPI_Comm_call_errhandler(comm, error_class);
    return error_class;
}

int check_permutation(const int ranks[], int count, int size, char error[error_size]) {
    if (count != size) {
        snprintf(error, error_size, "the order has %d ranks, but the communicator %d", count, size);
        return MPI_ERR_ARG;
    }
    int* at = malloc((size_t)size * sizeof *at);
    if (at == NULL) {
        snprintf(error, error_size, "not enough memory");
        return MPI_ERR_NO_MEM;
    }
    memset(at, -1, (size_t)size * sizeof *at);
    int error_class = MPI_SUCCESS;
    for (int i = 0; i < size && error_class == MPI_SUCCESS; ++i) {
        const bool exists = ranks[i] >= 0 && ranks[i] < size;
        if (exists && at[ranks[i]] < 0) {
            at[ranks[i]] = i;
            continue;
        }
        error_class = MPI_ERR_RANK;
        if (exists)
            snprintf(error, error_size, "the order has rank %d at %d and at %d", ranks[i], at[ranks[i]], i);
        else
            snprintf(error, error_size, "the order has %d at %d, but ranks are 0 to %d", ranks[i], i,
                     size - 1);
    }
    free(at);
    return error_class;
}

static int create_comm_from_ranks(MPI_Comm comm, int size, const int ranks[], MPI_Comm* newcomm) {
    MPI_Group old_group = MPI_GROUP_NULL, new_group = MPI_GROUP_NULL;
    int status = PMPI_Comm_group(comm, &old_group);
    if (status != MPI_SUCCESS) return status;
    status = PMPI_Group_incl(old_group, size, ranks, &new_group);
    if (status == MPI_SUCCESS) {
        status = PMPI_Comm_create(comm, new_group, newcomm);
        PMPI_Group_free(&new_group);
    }
    PMPI_Group_free(&old_group);
    return status;
}

int create_remapped_comm(MPI_Comm comm, const char* name, const int ranks[], MPI_Comm* newcomm) {
    int rank = 0, size = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    int* all = malloc((size_t)size * sizeof *all);
    int status = raise_on_exhausted_memory(comm, name, all != NULL);
    if (status == MPI_SUCCESS) {
        if (rank == 0) memcpy(all, ranks, (size_t)size * sizeof *all);
        status = PMPI_Bcast(all, size, MPI_INT, 0, comm);
    }
    if (status == MPI_SUCCESS) status = create_comm_from_ranks(comm, size, all, newcomm);
    free(all);
    return status;
}

int topoloom_comm_remap(MPI_Comm comm, const int ranks[], MPI_Comm* newcomm) {
    static const char name[] = "comm_remap";
    int rank = 0, size = 0, error_class = MPI_SUCCESS;
    int status = check_comm(comm, name, newcomm);
    if (status != MPI_SUCCESS) return status;
    *newcomm = MPI_COMM_NULL;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    char error[error_size] = "the order is null";
    if (rank == 0) error_class = ranks == NULL ? MPI_ERR_ARG : check_permutation(ranks, size, size, error);
    status = raise_on_all_ranks(comm, name, error_class, error);
    return status == MPI_SUCCESS ? create_remapped_comm(comm, name, ranks, newcomm) : status;
}

int topoloom_comm_remap_f(const MPI_Fint* comm, const int ranks[], MPI_Fint* newcomm) {
    MPI_Comm created = MPI_COMM_NULL;
    const int status = topoloom_comm_remap(PMPI_Comm_f2c(*comm), ranks, &created);
    *newcomm = PMPI_Comm_c2f(created);
    return status;
}
