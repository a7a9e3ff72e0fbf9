// SPDX-License-Identifier: BSD-3-Clause
#include "abort_message.h"
#include "remap.h"

int raise_on_all_ranks(MPI_Comm comm, const char* name, int error_class, const char* error) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0 && error_class != MPI_SUCCESS)
        print_before_abort("topoloom: topoloom_%s: %s\n", name, error);
    const int status = PMPI_Bcast(&error_class, 1, MPI_INT, 0, comm);
    if (status != MPI_SUCCESS) return status;
    if (error_class != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, error_class);
    return error_class;
}

int raise_on_exhausted_memory(MPI_Comm comm, const char* name, bool has_memory) {
    int lacks_memory = !has_memory;
    const int status = PMPI_Allreduce(MPI_IN_PLACE, &lacks_memory, 1, MPI_INT, MPI_MAX, comm);
    if (status != MPI_SUCCESS) return status;
    return raise_on_all_ranks(comm, name, lacks_memory ? MPI_ERR_NO_MEM : MPI_SUCCESS,
                              "not enough memory on a rank");
}
