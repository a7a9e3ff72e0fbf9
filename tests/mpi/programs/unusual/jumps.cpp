// SPDX-License-Identifier: BSD-3-Clause
// Sends to an invalid rank, leaves the error handler by throw or longjmp, then sends 10 bytes to
// the next rank.
#include <mpi.h>

#include <csetjmp>
#include <cstring>

static std::jmp_buf back;
static bool jumps;

static void jump_or_throw(MPI_Comm*, int* code, ...) {
    if (jumps) std::longjmp(back, 1);
    throw *code;
}

static void fail(char* bytes) {
    if (jumps && setjmp(back) != 0) return;
    try {
        MPI_Send(bytes, 10, MPI_BYTE, 1000, 0, MPI_COMM_WORLD);
    } catch (int) {
    }
}

int main(int argc, char** argv) {
    int me, size;
    char out[10] = {0}, in[10];
    MPI_Errhandler handler;
    jumps = std::strcmp(argv[1], "jump") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(jump_or_throw, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; ++i) {
        fail(out);
        MPI_Sendrecv(out, 10, MPI_BYTE, (me + 1) % size, 0, in, 10, MPI_BYTE, (me + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
}
