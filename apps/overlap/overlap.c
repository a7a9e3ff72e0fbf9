// SPDX-License-Identifier: BSD-3-Clause
// Transposes a matrix with distributed rows, as a parallel FFT does. Compares MPI_Alltoall with two
// persistent topoloom_alltoall operations, each for half of the rows, so that one half is in flight while the
// other is packed. `overlap [N [FORM]]`: N rows per rank; FORM is mpi or topoloom, else both are measured, and the line
// `time:` is of the latter.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <topoloom_collective.h>

enum { repetitions = 20, halves = 2 };

/// Packs local rows `first` to `last` (excluded) into one block of columns per receiver.
static void pack(const double* rows, int n, int ranks, int first, int last, double* blocks) {
    for (int to = 0; to < ranks; ++to)
        for (int r = first; r < last; ++r)
            for (int c = 0; c < n; ++c) *blocks++ = rows[(size_t)r * n * ranks + to * n + c];
}

/// Unpacks rows `first` to `last` (excluded) of each sender as columns of the transposed matrix.
static void unpack(const double* blocks, int n, int ranks, int first, int last, double* rows) {
    for (int from = 0; from < ranks; ++from)
        for (int r = first; r < last; ++r)
            for (int c = 0; c < n; ++c) rows[(size_t)c * n * ranks + from * n + r] = *blocks++;
}

struct matrix {
    int n, ranks;            // n: number of rows per rank; a row has n * ranks elements
    double *rows, *columns;  // rows: the original matrix; columns: the transposed matrix
    double *out, *in;        // packed
    topoloom_request half[halves];
};

static void transpose_by_mpi(struct matrix* m) {
    pack(m->rows, m->n, m->ranks, 0, m->n, m->out);
    MPI_Alltoall(m->out, m->n * m->n, MPI_DOUBLE, m->in, m->n * m->n, MPI_DOUBLE, MPI_COMM_WORLD);
    unpack(m->in, m->n, m->ranks, 0, m->n, m->columns);
}

static void transpose_by_topoloom(struct matrix* m) {
    const size_t size = (size_t)m->n * m->n * m->ranks / halves;
    for (int h = 0; h < halves; ++h) {
        pack(m->rows, m->n, m->ranks, h * m->n / halves, (h + 1) * m->n / halves, m->out + h * size);
        topoloom_start(&m->half[h]);
    }
    for (int h = 0; h < halves; ++h) {
        topoloom_wait(&m->half[h], MPI_STATUS_IGNORE);
        unpack(m->in + h * size, m->n, m->ranks, h * m->n / halves, (h + 1) * m->n / halves, m->columns);
    }
}

/// Returns the seconds per transposition on the slowest rank, not counting the first transposition; -1 if an
/// element is wrong.
static double measure_seconds(void (*transpose)(struct matrix*), struct matrix* m, int rank) {
    const int width = m->n * m->ranks;
    double start = 0, mine, slowest;
    memset(m->columns, 0, sizeof *m->columns * m->n * width);
    for (int i = 0; i <= repetitions; ++i) {
        if (i == 1) MPI_Barrier(MPI_COMM_WORLD), start = MPI_Wtime();
        transpose(m);
    }
    mine = (MPI_Wtime() - start) / repetitions;
    int wrong = 0, any = 0;
    for (int r = 0; r < m->n; ++r)
        for (int c = 0; c < width; ++c)
            wrong |= m->columns[(size_t)r * width + c] != (double)c * width + rank * m->n + r;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any ? -1 : slowest;
}

int main(int argc, char** argv) {
    int rank;
    struct matrix m = {.n = argc > 1 ? atoi(argv[1]) : 64};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m.ranks);
    const char* const form = argc > 2 ? argv[2] : "both";
    const bool is_known =
        strcmp(form, "mpi") == 0 || strcmp(form, "topoloom") == 0 || strcmp(form, "both") == 0;
    if (m.n < halves || m.n > 4096 || m.n % halves != 0 || !is_known) {
        if (rank == 0)
            fprintf(stderr,
                    "overlap: the rows per rank must be even, from 2 to 4096, FORM mpi, topoloom or both\n");
        MPI_Finalize();
        return 2;
    }
    const size_t size = (size_t)m.n * m.n * m.ranks;
    double* memory = calloc(4 * size, sizeof *memory);
    if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    m.rows = memory, m.columns = memory + size, m.out = memory + 2 * size, m.in = memory + 3 * size;
    for (size_t i = 0; i < size; ++i) m.rows[i] = (double)(rank * size + i);
    const int count = m.n * m.n / halves;
    for (int h = 0; h < halves; ++h)
        topoloom_alltoall_init(m.out + h * size / halves, count, MPI_DOUBLE, m.in + h * size / halves, count,
                               MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &m.half[h]);
    const bool is_both = strcmp(form, "both") == 0, is_mpi = strcmp(form, "mpi") == 0;
    const double theirs = is_both || is_mpi ? measure_seconds(transpose_by_mpi, &m, rank) : 0,
                 ours = is_mpi ? 0 : measure_seconds(transpose_by_topoloom, &m, rank);
    const bool is_right = theirs >= 0 && ours >= 0;
    if (rank == 0 && is_right && is_both)
        printf("overlap: %d ranks, %d x %d: MPI %.1f us, Topoloom %.1f us; verified\n", m.ranks,
               m.n * m.ranks, m.n * m.ranks, 1e6 * theirs, 1e6 * ours);
    if (rank == 0) printf("%s: every element was compared\n", is_right ? "right" : "WRONG");
    if (rank == 0 && is_right) printf("time: %.4g s\n", is_mpi ? theirs : ours);
    for (int h = 0; h < halves; ++h) topoloom_request_free(&m.half[h]);
    free(memory);
    MPI_Finalize();
    return !is_right;
}
