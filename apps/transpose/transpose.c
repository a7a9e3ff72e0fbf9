// SPDX-License-Identifier: BSD-3-Clause
// Transposes a square matrix repeatedly with MPI_Alltoall, as multidimensional Fourier transforms do.
//
// Usage: transpose [ROWS] [TIMES]. Every rank has ROWS rows of the matrix and sends a block of ROWS x ROWS doubles to
// each other rank. Rank 0 prints the time per transposition on the slowest rank, not counting the first one. The final
// matrix is checked.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct matrix {
    int rows, size, first;  // rows of this rank, rows of the matrix, this rank's first row
    double *own, *blocks, *received;
};

static double initial_element(int row, int column) { return 1e-3 * row + column; }

/// Packs a transposed block for each receiver.
static void pack(const struct matrix* m) {
    double* to = m->blocks;
    for (int block = 0; block < m->size; block += m->rows)
        for (int column = 0; column < m->rows; ++column)
            for (int row = 0; row < m->rows; ++row) *to++ = m->own[row * m->size + block + column];
}

static void unpack(const struct matrix* m) {
    const double* from = m->received;
    for (int block = 0; block < m->size; block += m->rows)
        for (int row = 0; row < m->rows; ++row)
            for (int column = 0; column < m->rows; ++column) m->own[row * m->size + block + column] = *from++;
}

static void transpose(const struct matrix* m) {
    const int count = m->rows * m->rows;
    pack(m);
    MPI_Alltoall(m->blocks, count, MPI_DOUBLE, m->received, count, MPI_DOUBLE, MPI_COMM_WORLD);
    unpack(m);
}

static long count_wrong_elements(const struct matrix* m, int times) {
    long wrong = 0;
    for (int row = 0; row < m->rows; ++row)
        for (int column = 0; column < m->size; ++column) {
            const int there = m->first + row;
            const double right =
                times % 2 == 0 ? initial_element(there, column) : initial_element(column, there);
            wrong += m->own[row * m->size + column] != right;
        }
    return wrong;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int rows = argc > 1 ? atoi(argv[1]) : 4, times = argc > 2 ? atoi(argv[2]) : 20;
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct matrix m = {.rows = rows, .size = rows * ranks, .first = rows * rank};
    const size_t bytes = sizeof(double) * (size_t)m.rows * (size_t)m.size;
    m.own = malloc(bytes);
    m.blocks = malloc(bytes);
    m.received = malloc(bytes);
    if (rows < 1 || times < 2 || m.own == NULL || m.blocks == NULL || m.received == NULL) {
        fputs("transpose: ROWS must be 1 or more, TIMES 2 or more, and there must be enough memory\n",
              stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int row = 0; row < m.rows; ++row)
        for (int column = 0; column < m.size; ++column)
            m.own[row * m.size + column] = initial_element(m.first + row, column);
    transpose(&m);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 1; i < times; ++i) transpose(&m);
    double seconds = MPI_Wtime() - begin, longest;
    long wrong = count_wrong_elements(&m, times), all_wrong = 0;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        const double seconds_each = longest / (times - 1);
        printf("transpose: %d ranks, blocks of %zu bytes, %.2f us each time\n", ranks,
               sizeof(double) * (size_t)(rows * rows), 1e6 * seconds_each);
        printf("%s: %ld wrong elements\ntime: %.4g s\n", all_wrong == 0 ? "right" : "WRONG", all_wrong,
               seconds_each);
    }
    free(m.own);
    free(m.blocks);
    free(m.received);
    MPI_Finalize();
    return all_wrong != 0;
}
