// SPDX-License-Identifier: BSD-3-Clause
// Topologies without reorder, and invalid ones with reorder: errors are MPI's, raised through the communicator's error
// handler.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int size = 0, rank = 0, periods[2] = {0, 0}, length = 0, class = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, periods, 0, &made);
    MPI_Comm_free(&made);
    const int too_many[2] = {size, 2};
    const int status = MPI_Cart_create(MPI_COMM_WORLD, 2, too_many, periods, 1, &made);
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(status, &class);
    MPI_Error_string(class, text, &length);
    if (rank == 0) printf("%s\n", text);
    const int wrong = MPI_Cart_create(MPI_COMM_NULL, 1, &size, periods, 1, &made);
    MPI_Error_class(wrong, &class);
    MPI_Error_string(class, text, &length);
    if (rank == 0) printf("%s\n", text);
    MPI_Finalize();
    return 0;
}
