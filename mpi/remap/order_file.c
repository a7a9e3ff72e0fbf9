// SPDX-License-Identifier: BSD-3-Clause
// An order in a file, as `topoloom order -o` writes them: a rank per line; # begins a comment.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap.h"

/// Null where the line is right, else the word that is not a rank.
static const char* read_ranks(char* line, int size, int ranks[], int* count) {
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

int read_order_file(const char* name, int size, int ranks[], char why[why_size]) {
    FILE* file = fopen(name, "re");
    if (file == NULL) {
        snprintf(why, why_size, "cannot read the order file '%s'", name);
        return MPI_ERR_ARG;
    }
    char* line = NULL;
    size_t room = 0;
    int count = 0, wrong = MPI_SUCCESS;
    for (int number = 1; wrong == MPI_SUCCESS && getline(&line, &room, file) >= 0; ++number) {
        const char* word = read_ranks(line, size, ranks, &count);
        if (word == NULL) continue;
        snprintf(why, why_size, "%s: line %d: '%.40s' is not a rank", name, number, word);
        wrong = MPI_ERR_ARG;
    }
    free(line);
    fclose(file);
    if (wrong != MPI_SUCCESS) return wrong;
    char reason[why_size];
    wrong = check_permutation(ranks, count, size, reason);
    if (wrong != MPI_SUCCESS) snprintf(why, why_size, "%.200s: %.300s", name, reason);
    return wrong;
}
