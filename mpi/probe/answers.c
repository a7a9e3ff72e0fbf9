// SPDX-License-Identifier: BSD-3-Clause
// Gathers records and samples, and writes them in one go.
#include "answers.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { fields = sizeof(struct record) / sizeof(int) };

void begin_record(struct answers* answers, struct record about) {
    if (answers->count == answers->room) {
        answers->room = answers->room == 0 ? 256 : 2 * answers->room;
        answers->records = realloc(answers->records, (size_t)answers->room * sizeof *answers->records);
        if (answers->records == NULL) abort();
    }
    about.count = 0;
    answers->records[answers->count++] = about;
}

int samples_of_last(const struct answers* answers) { return answers->records[answers->count - 1].count; }

void keep_sample(struct answers* answers, double seconds) {
    add_sample(&answers->samples, seconds);
    ++answers->records[answers->count - 1].count;
}

/// How much each rank gives, on rank 0, and where it goes; NULL elsewhere.
struct parts {
    int *counts, *starts, total;
};

static struct parts gather_counts(int own) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct parts parts = {0};
    if (rank == 0) {
        parts.counts = malloc((size_t)ranks * sizeof(int));
        parts.starts = malloc((size_t)ranks * sizeof(int));
    }
    MPI_Gather(&own, 1, MPI_INT, parts.counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; ++i) {
        parts.starts[i] = parts.total;
        parts.total += parts.counts[i];
    }
    return parts;
}

static void* gather(const void* own, int count, MPI_Datatype type, size_t size, struct parts* parts) {
    void* all = parts->counts == NULL ? NULL : malloc((size_t)parts->total * size + 1);
    MPI_Gatherv(own, count, type, all, parts->counts, parts->starts, type, 0, MPI_COMM_WORLD);
    free(parts->counts);
    free(parts->starts);
    return all;
}

struct head {
    int64_t orders, records, samples;
};

static int append(const char* name, const struct head* head, const int* records, const double* samples) {
    FILE* file = fopen(name, "ab");
    if (file == NULL) return 0;
    const size_t numbers = (size_t)head->records * fields, seconds = (size_t)head->samples;
    int good = fwrite(head, sizeof *head, 1, file) == 1;
    good &= fwrite(records, sizeof *records, numbers, file) == numbers;
    good &= fwrite(samples, sizeof *samples, seconds, file) == seconds;
    return fclose(file) == 0 && good;
}

void write_answers(struct answers* answers, int orders, const char* file) {
    struct parts of_records = gather_counts(answers->count * fields);
    int* records = gather(answers->records, answers->count * fields, MPI_INT, sizeof(int), &of_records);
    struct parts of_samples = gather_counts(answers->samples.count);
    double* samples =
        gather(answers->samples.seconds, answers->samples.count, MPI_DOUBLE, sizeof(double), &of_samples);
    const struct head head = {orders, of_records.total / fields, of_samples.total};
    if (records != NULL && !append(file, &head, records, samples)) {
        fprintf(stderr, "topoloom: rank 0 cannot write '%s'\n", file);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    free(records);
    free(samples);
    answers->count = answers->samples.count = 0;
}

void free_answers(struct answers* answers) {
    free(answers->records);
    free_samples(&answers->samples);
}
