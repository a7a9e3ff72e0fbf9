// SPDX-License-Identifier: BSD-3-Clause
// Gathers records and samples, and writes them in one go.
#include "answers.h"

#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abort_message.h"

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

/// What a rank gives: its records, then its samples.
struct share {
    int records, samples;
};

static int bytes_of(const struct share* share) {
    return share->records * (int)sizeof(struct record) + share->samples * (int)sizeof(double);
}

static char* packed(const struct answers* answers, int* bytes) {
    const struct share own = {answers->count, answers->samples.count};
    *bytes = bytes_of(&own);
    char* text = malloc((size_t)*bytes + 1);
    if (text == NULL) abort();
    const size_t of_records = (size_t)answers->count * sizeof(struct record);
    if (answers->count > 0) memcpy(text, answers->records, of_records);
    if (own.samples > 0)
        memcpy(text + of_records, answers->samples.seconds, (size_t)own.samples * sizeof(double));
    return text;
}

struct head {
    int64_t orders, records, samples;
};

/// Writes all records, then all samples.
static int append(const char* name, struct head head, const struct share* shares, const char* all,
                  int ranks) {
    FILE* file = fopen(name, "ab");
    if (file == NULL) return 0;
    for (int i = 0; i < ranks; ++i) {
        head.records += shares[i].records;
        head.samples += shares[i].samples;
    }
    int good = fwrite(&head, sizeof head, 1, file) == 1;
    for (int part = 0; part < 2; ++part) {
        const char* from = all;
        for (int i = 0; i < ranks; ++i) {
            const size_t records = (size_t)shares[i].records * sizeof(struct record);
            const size_t size = part == 0 ? records : (size_t)shares[i].samples * sizeof(double);
            good &= fwrite(part == 0 ? from : from + records, 1, size, file) == size;
            from += bytes_of(&shares[i]);
        }
    }
    return fclose(file) == 0 && good;
}

static void give_up(const char* file) {
    print_before_abort("topoloom: rank 0 cannot write '%s': %s\n", file, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void gather_and_append(const struct answers* answers, int orders, const char* file) {
    int rank = 0, ranks = 0, bytes = 0, total = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char* own = packed(answers, &bytes);
    const struct share share = {answers->count, answers->samples.count};
    const size_t most = rank == 0 ? (size_t)ranks : 1;
    struct share* shares = malloc(most * sizeof *shares);
    int *counts = malloc(most * sizeof(int)), *starts = malloc(most * sizeof(int));
    if (shares == NULL || counts == NULL || starts == NULL) abort();
    MPI_Gather(&share, 2, MPI_INT, shares, 2, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; ++i) {
        counts[i] = bytes_of(&shares[i]);
        starts[i] = total;
        total += counts[i];
    }
    char* all = malloc((size_t)total + 1);
    if (all == NULL) abort();
    MPI_Gatherv(own, bytes, MPI_BYTE, all, counts, starts, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0 && !append(file, (struct head){.orders = orders}, shares, all, ranks)) give_up(file);
    free(all);
    free(starts);
    free(counts);
    free(shares);
    free(own);
}

void write_answers(struct answers* answers, int orders, int measured, const char* file) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (measured) {
        gather_and_append(answers, orders, file);
    } else if (rank == 0 && !append(file, (struct head){.orders = orders}, NULL, NULL, 0)) {
        give_up(file);
    }
    answers->count = answers->samples.count = 0;
}

void free_answers(struct answers* answers) {
    free(answers->records);
    free_samples(&answers->samples);
}
