// SPDX-License-Identifier: BSD-3-Clause
// Errors that all ranks raise together.
#include "last_words.h"
#include "remap.h"

int agree(MPI_Comm comm, const char* name, int error_class, const char* why) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0 && error_class != MPI_SUCCESS) say_last("topoloom: topoloom_%s: %s\n", name, why);
    const int status = PMPI_Bcast(&error_class, 1, MPI_INT, 0, comm);
    if (status != MPI_SUCCESS) return status;
    if (error_class != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, error_class);
    return error_class;
}

int agree_on_memory(MPI_Comm comm, const char* name, bool enough) {
    int lack = !enough;
    const int status = PMPI_Allreduce(MPI_IN_PLACE, &lack, 1, MPI_INT, MPI_MAX, comm);
    if (status != MPI_SUCCESS) return status;
    return agree(comm, name, lack ? MPI_ERR_NO_MEM : MPI_SUCCESS, "not enough memory on a rank");
}
