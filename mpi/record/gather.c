// SPDX-License-Identifier: BSD-3-Clause
// At MPI_Finalize: rank 0 fetches the blocks one after another, so that it holds one at a time, into one
// file.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

enum { ask = 1, answer = 2, longest_name = 4096, most_words = 1 << 24 };  // longer blocks come in pieces

static void send_block(MPI_Comm comm, const struct sink* sink) {
    int go = 0;
    PMPI_Recv(&go, 1, MPI_INT, 0, ask, comm, MPI_STATUS_IGNORE);
    const uint64_t words = sink->failed ? 0 : sink->used;
    PMPI_Send(&words, 1, MPI_UINT64_T, 0, answer, comm);
    for (uint64_t at = 0; at < words; at += most_words) {
        const uint64_t left = words - at;
        PMPI_Send(sink->words + at, left < most_words ? (int)left : most_words, MPI_INT64_T, 0, answer, comm);
    }
}

static void receive_block(MPI_Comm comm, int rank, struct sink* file) {
    static int64_t* buffer;
    static uint64_t capacity;
    const int go = 1;
    uint64_t words = 0;
    PMPI_Send(&go, 1, MPI_INT, rank, ask, comm);
    PMPI_Recv(&words, 1, MPI_UINT64_T, rank, answer, comm, MPI_STATUS_IGNORE);
    if (words > capacity) {
        free(buffer);
        capacity = words;
        buffer = malloc(words * sizeof *buffer);
    }
    for (uint64_t at = 0; at < words; at += most_words) {
        const int piece = words - at < most_words ? (int)(words - at) : most_words;
        if (buffer != NULL) {
            PMPI_Recv(buffer + at, piece, MPI_INT64_T, rank, answer, comm, MPI_STATUS_IGNORE);
        } else {  // no memory: the program's rank must still get rid of what it sends
            int64_t* scrap = malloc((size_t)piece * sizeof *scrap);
            if (scrap == NULL) _exit(1);
            PMPI_Recv(scrap, piece, MPI_INT64_T, rank, answer, comm, MPI_STATUS_IGNORE);
            free(scrap);
        }
    }
    if (buffer == NULL) {
        capacity = 0;
        return;
    }
    struct sink block = {.file = file->file, .words = buffer, .used = words};
    if (!sink_flush(&block)) file->failed = true;
}

/// The name to write to: programs that were spawned by the recorded one keep out of its way.
static bool open_file(const char* folder, char* name, char* unfinished, int* file) {
    const char* stem = record_spawned ? "spawned" : "recording";
    const int length = snprintf(name, longest_name, "%s/%s-%llx.topoloom", folder, stem, record_job);
    if (length < 0 || length >= longest_name) return false;
    snprintf(unfinished, longest_name + 8, "%.*s.part", length, name);
    *file = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return *file >= 0 &&
           write(*file, record_file_head, sizeof record_file_head) == (ssize_t)sizeof record_file_head;
}

bool gather_to_file(const char* folder) {
    char name[longest_name] = "", unfinished[longest_name + 8] = "";
    int file = -1, go_on = 0;
    if (record_rank == 0) go_on = open_file(folder, name, unfinished, &file);
    MPI_Comm comm = MPI_COMM_NULL;
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) return false;
    PMPI_Bcast(&go_on, 1, MPI_INT, 0, comm);
    if (go_on) {
        struct sink memory = {.file = -1};
        block_write(&memory, true);
        if (record_rank != 0) {
            send_block(comm, &memory);
        } else {
            struct sink out = {.file = file, .words = memory.words, .used = memory.failed ? 0 : memory.used};
            sink_flush(&out);
            for (int rank = 1; rank < record_size; ++rank) receive_block(comm, rank, &out);
            go_on = close(file) == 0 && !out.failed && rename(unfinished, name) == 0;
            file = -1;
        }
        free(memory.words);
    }
    if (file >= 0) close(file);
    if (record_rank == 0 && !go_on) unlink(unfinished);
    PMPI_Comm_free(&comm);
    return go_on;
}
