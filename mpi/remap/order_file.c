// SPDX-License-Identifier: BSD-3-Clause
// Reads files written by `topoloom collective order -o`: one rank per line; # begins a comment.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap.h"

/// Parses the ranks. Returns NULL, or the first word that is not a rank.
static const char* parse_ranks(char* line, int size, int ranks[], int* count) {
    line[strcspn(line, "#\n")] = '\0';
    char* rest = NULL;
    for (char* word = strtok_r(line, " \t\r", &rest); word != NULL; word = strtok_r(NULL, " \t\r", &rest)) {
        char* end = NULL;
        errno = 0;
        const long rank = strtol(word, &end, 10);
        if (*end != '\0' || errno != 0 || rank < INT_MIN || rank > INT_MAX) return word;
        if (*count < size) ranks[*count] = (int)rank;
        *count += *count < INT_MAX;
    }
    return NULL;
}

int read_order_file(const char* name, int size, int ranks[], char error[error_size]) {
    FILE* file = fopen(name, "re");
    if (file == NULL) {
        snprintf(error, error_size, "cannot read the order file '%s'", name);
        return MPI_ERR_ARG;
    }
    char* line = NULL;
    size_t capacity = 0;
    int count = 0, error_class = MPI_SUCCESS;
    for (int number = 1; error_class == MPI_SUCCESS && getline(&line, &capacity, file) >= 0; ++number) {
        const char* word = parse_ranks(line, size, ranks, &count);
        if (word == NULL) continue;
        snprintf(error, error_size, "%s: line %d: '%.40s' is not a rank", name, number, word);
        error_class = MPI_ERR_ARG;
    }
    free(line);
    fclose(file);
    if (error_class != MPI_SUCCESS) return error_class;
    char reason[error_size];
    error_class = check_permutation(ranks, count, size, reason);
    if (error_class != MPI_SUCCESS) snprintf(error, error_size, "%.200s: %.300s", name, reason);
    return error_class;
}
