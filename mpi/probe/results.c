// SPDX-License-Identifier: BSD-3-Clause
#include "results.h"

#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abort_message.h"

void begin_record(struct results* results, struct exchange_record record) {
    if (results->count == results->capacity) {
        results->capacity = results->capacity == 0 ? 256 : 2 * results->capacity;
        results->records = realloc(results->records, (size_t)results->capacity * sizeof *results->records);
        if (results->records == NULL) abort();
    }
    record.count = 0;
    results->records[results->count++] = record;
}

int count_last_samples(const struct results* results) { return results->records[results->count - 1].count; }

void add_result(struct results* results, double seconds) {
    add_sample(&results->samples, seconds);
    ++results->records[results->count - 1].count;
}

/// Numbers of records and samples of one rank. The data of a rank are all its records, followed by all its
/// samples.
struct result_counts {
    int records, samples;
};

static int get_result_bytes(const struct result_counts* counts) {
    return counts->records * (int)sizeof(struct exchange_record) + counts->samples * (int)sizeof(double);
}

static char* pack_results(const struct results* results, int* bytes) {
    const struct result_counts own_counts = {results->count, results->samples.count};
    *bytes = get_result_bytes(&own_counts);
    char* data = malloc((size_t)*bytes + 1);
    if (data == NULL) abort();
    const size_t record_bytes = (size_t)results->count * sizeof(struct exchange_record);
    if (results->count > 0) memcpy(data, results->records, record_bytes);
    if (own_counts.samples > 0)
        memcpy(data + record_bytes, results->samples.seconds, (size_t)own_counts.samples * sizeof(double));
    return data;
}

struct block_header {
    int64_t commands, records, samples;
};

/// Appends a block to the file: the header, all records, then all samples. Returns 0 on failure.
static int append_block(const char* name, struct block_header header, const struct result_counts* all_counts,
                        const char* all, int ranks) {
    FILE* file = fopen(name, "ab");
    if (file == NULL) return 0;
    for (int i = 0; i < ranks; ++i) {
        header.records += all_counts[i].records;
        header.samples += all_counts[i].samples;
    }
    int ok = fwrite(&header, sizeof header, 1, file) == 1;
    for (int part = 0; part < 2; ++part) {
        const char* from = all;
        for (int i = 0; i < ranks; ++i) {
            const size_t records = (size_t)all_counts[i].records * sizeof(struct exchange_record);
            const size_t size = part == 0 ? records : (size_t)all_counts[i].samples * sizeof(double);
            ok &= fwrite(part == 0 ? from : from + records, 1, size, file) == size;
            from += get_result_bytes(&all_counts[i]);
        }
    }
    return fclose(file) == 0 && ok;
}

static void abort_on_write_error(const char* file) {
    print_before_abort("topoloom: rank 0 cannot write '%s': %s\n", file, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void gather_and_append_results(const struct results* results, int commands, const char* file) {
    int rank = 0, ranks = 0, bytes = 0, total = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char* own_data = pack_results(results, &bytes);
    const struct result_counts own_counts = {results->count, results->samples.count};
    const size_t count = rank == 0 ? (size_t)ranks : 1;
    struct result_counts* all_counts = malloc(count * sizeof *all_counts);
    int *counts = malloc(count * sizeof(int)), *displacements = malloc(count * sizeof(int));
    if (all_counts == NULL || counts == NULL || displacements == NULL) abort();
    MPI_Gather(&own_counts, 2, MPI_INT, all_counts, 2, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; ++i) {
        counts[i] = get_result_bytes(&all_counts[i]);
        displacements[i] = total;
        total += counts[i];
    }
    char* all = malloc((size_t)total + 1);
    if (all == NULL) abort();
    MPI_Gatherv(own_data, bytes, MPI_BYTE, all, counts, displacements, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0 && !append_block(file, (struct block_header){.commands = commands}, all_counts, all, ranks))
        abort_on_write_error(file);
    free(all);
    free(displacements);
    free(counts);
    free(all_counts);
    free(own_data);
}

void write_results(struct results* results, int commands, int measured, const char* file) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (measured) {
        gather_and_append_results(results, commands, file);
    } else if (rank == 0 && !append_block(file, (struct block_header){.commands = commands}, NULL, NULL, 0)) {
        abort_on_write_error(file);
    }
    results->count = results->samples.count = 0;
}

void free_results(struct results* results) {
    free(results->records);
    free_samples(&results->samples);
}
