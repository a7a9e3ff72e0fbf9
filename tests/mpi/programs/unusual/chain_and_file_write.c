// SPDX-License-Identifier: BSD-3-Clause
// Passes 100 bytes from rank to rank, then writes a file collectively, which makes MPI send internal messages.
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, size;
    char bytes[100] = {0};
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) MPI_Recv(bytes, 100, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank + 1 < size) MPI_Send(bytes, 100, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
    if (argc > 1) {
        MPI_Datatype every_other;
        MPI_Type_vector(10, 10, 10 * size, MPI_BYTE, &every_other);
        MPI_Type_commit(&every_other);
        MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
        MPI_File_set_view(file, 10 * rank, MPI_BYTE, every_other, "native", MPI_INFO_NULL);
        MPI_File_write_all(file, bytes, 100, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
        MPI_Type_free(&every_other);
    }
    MPI_Finalize();
    return 0;
}
