// SPDX-License-Identifier: BSD-3-Clause
// Reopens the file for each poll, because network file systems show writes of another host only after open().
#define _GNU_SOURCE
#include "commands.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef SMPI_H
#include <smpi/smpi_helpers.h>  // its nanosleep
#endif

static const long pause_ns = 2000000;
/// Timeout without commands: `topoloom machine probe` was probably killed, and waiting ranks occupy cores.
enum { stall_timeout_s = 600 };
enum { gone = -1 };

/// Reads the complete lines from offset `from` on. Returns NULL if there are none. `length` is `gone` if the file no
/// longer exists.
static char* read_new_lines(const char* file, long from, int* length) {
    *length = gone;
    FILE* stream = fopen(file, "rb");
    if (stream == NULL) return NULL;
    *length = 0;
    char* text = NULL;
    if (fseek(stream, 0, SEEK_END) == 0) {
        const long end = ftell(stream);
        if (end > from && fseek(stream, from, SEEK_SET) == 0) text = malloc((size_t)(end - from));
        if (text != NULL) {
            const size_t got = fread(text, 1, (size_t)(end - from), stream);
            const char* last = memrchr(text, '\n', got);
            *length = last == NULL ? 0 : (int)(last - text) + 1;
        }
    }
    fclose(stream);
    if (*length > 0) return text;
    free(text);
    return NULL;
}

static int has_timed_out(time_t began) {
#ifdef SMPI_H  // simulated hours take no time
    (void)began;
    return 0;
#else
    return time(NULL) - began > stall_timeout_s;
#endif
}

static char* wait_for_new_lines(struct commands* commands, const char* file, int* length) {
    const time_t began = time(NULL);
    for (;;) {
        char* text = read_new_lines(file, commands->read, length);
        if (text == NULL && has_timed_out(began)) *length = gone;
        if (text != NULL || *length == gone) return text;
        const struct timespec pause = {.tv_nsec = pause_ns};
        nanosleep(&pause, NULL);
    }
}

static void split_lines(struct commands* commands, int length) {
    commands->count = 0;
    for (int i = 0; i < length; ++i) commands->count += commands->text[i] == '\n';
    commands->lines = malloc((size_t)commands->count * sizeof *commands->lines);
    char* line = commands->text;
    for (int i = 0; i < commands->count; ++i) {
        commands->lines[i] = line;
        line = strchr(line, '\n');
        *line++ = '\0';
    }
}

int read_commands(struct commands* commands, const char* file) {
    int rank = 0, length = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    free_commands(commands);
    if (rank == 0) commands->text = wait_for_new_lines(commands, file, &length);
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (length == gone) return 0;
    if (rank > 0) commands->text = malloc((size_t)length);
    MPI_Bcast(commands->text, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    commands->read += length;
    split_lines(commands, length);
    return 1;
}

void free_commands(struct commands* commands) {
    free(commands->text);
    free(commands->lines);
    commands->text = NULL;
    commands->lines = NULL;
    commands->count = 0;
}
