// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "ranks.h"

#include <ctype.h>
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abort_message.h"

enum { line_length = 1024, library_length = 200 };

/// Formats the allowed CPUs of this process. Omits ranges that exceed the buffer.
static void format_cpus(char* text, size_t size) {
    snprintf(text, size, "-");
#ifndef SMPI_H  // its ranks share one process
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return;
    size_t length = 0;
    for (int first = 0; first < CPU_SETSIZE && length + 16 < size; ++first) {
        if (!CPU_ISSET(first, &set)) continue;
        int last = first;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
        const char* comma = length == 0 ? "" : ",";
        length +=
            (size_t)(first == last ? snprintf(text + length, size - length, "%s%d", comma, first)
                                   : snprintf(text + length, size - length, "%s%d-%d", comma, first, last));
        first = last;
    }
#endif
}

static void format_library(char* text, size_t size) {
    int version = 0, subversion = 0;
    MPI_Get_version(&version, &subversion);
    snprintf(text, size, "MPI-%d.%d", version, subversion);
#if MPI_VERSION >= 3 && !defined(SMPI_H)
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(library, &length);
    snprintf(text, size, "%.*s", (int)size - 1, library);
#endif
    for (char* c = text; *c != '\0'; ++c)
        if (isspace((unsigned char)*c)) *c = '_';
}

void write_ranks(const char* file) {
    int rank = 0, ranks = 0, length = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char line[line_length] = "", host[MPI_MAX_PROCESSOR_NAME] = "", cpus[line_length / 2],
         library[library_length];
    MPI_Get_processor_name(host, &length);
    format_cpus(cpus, sizeof cpus);
    format_library(library, sizeof library);
    snprintf(line, sizeof line, "%.200s %s %s", host, cpus, library);
    char* all = rank == 0 ? malloc((size_t)ranks * line_length) : NULL;
    MPI_Gather(line, line_length, MPI_CHAR, all, line_length, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    FILE* stream = all == NULL ? NULL : fopen(file, "we");
    int ok = stream != NULL;
    for (int i = 0; i < ranks && ok; ++i) ok = fprintf(stream, "%s\n", all + (size_t)i * line_length) > 0;
    ok = ok && fputs("all\n", stream) >= 0;
    // fclose may be the first call to report a full disk
    if (stream != NULL) ok &= fclose(stream) == 0;
    if (!ok) {
        print_before_abort("topoloom: rank 0 cannot write '%s': %s; start in a folder that its host sees\n",
                           file, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    free(all);
}
