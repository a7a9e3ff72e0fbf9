// SPDX-License-Identifier: BSD-3-Clause
// Gathers the recording at MPI_Finalize. Rank 0 receives the blocks one by one, so that only one is in memory, and
// writes them to one file.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

enum {
    tag_request = 1,
    tag_block = 2,
    longest_name = 4096,
    max_words = 1 << 24
};  // max_words: maximum number of words per message

static void send_block(MPI_Comm comm, const struct sink* sink) {
    int go = 0;
    PMPI_Recv(&go, 1, MPI_INT, 0, tag_request, comm, MPI_STATUS_IGNORE);
    const uint64_t words = sink->failed ? 0 : sink->used;
    PMPI_Send(&words, 1, MPI_UINT64_T, 0, tag_block, comm);
    for (uint64_t at = 0; at < words; at += max_words) {
        const uint64_t left = words - at;
        PMPI_Send(sink->words + at, left < max_words ? (int)left : max_words, MPI_INT64_T, 0, tag_block,
                  comm);
    }
}

static void receive_block(MPI_Comm comm, int rank, struct sink* file) {
    static int64_t* buffer;
    static uint64_t capacity;
    const int go = 1;
    uint64_t words = 0;
    PMPI_Send(&go, 1, MPI_INT, rank, tag_request, comm);
    PMPI_Recv(&words, 1, MPI_UINT64_T, rank, tag_block, comm, MPI_STATUS_IGNORE);
    if (words > capacity) {
        free(buffer);
        capacity = words;
        buffer = malloc(words * sizeof *buffer);
    }
    for (uint64_t at = 0; at < words; at += max_words) {
        const int piece = words - at < max_words ? (int)(words - at) : max_words;
        if (buffer != NULL) {
            PMPI_Recv(buffer + at, piece, MPI_INT64_T, rank, tag_block, comm, MPI_STATUS_IGNORE);
        } else {  // memory exhausted: receive and discard the message, so that the sender can finish
            int64_t* scrap = malloc((size_t)piece * sizeof *scrap);
            if (scrap == NULL) _exit(1);
            PMPI_Recv(scrap, piece, MPI_INT64_T, rank, tag_block, comm, MPI_STATUS_IGNORE);
            free(scrap);
        }
    }
    if (buffer == NULL) {
        capacity = 0;
        return;
    }
    struct sink block = {.file = file->file, .words = buffer, .used = words};
    if (!flush_sink(&block)) file->failed = true;
}

/// Creates the output file. Spawned programs write to a file with a different name.
static bool open_file(const char* folder, char* name, char* unfinished, int* file) {
    const char* stem = record_spawned ? "spawned" : "recording";
    const int length = snprintf(name, longest_name, "%s/%s-%llx.topoloom", folder, stem, record_job);
    if (length < 0 || length >= longest_name) return false;
    snprintf(unfinished, longest_name + 8, "%.*s.part", length, name);
    *file = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return *file >= 0 &&
           write(*file, record_file_header, sizeof record_file_header) == (ssize_t)sizeof record_file_header;
}

bool gather_recording(const char* folder) {
    char name[longest_name] = "", unfinished[longest_name + 8] = "";
    int file = -1, ok = 0;
    if (record_rank == 0) ok = open_file(folder, name, unfinished, &file);
    MPI_Comm comm = MPI_COMM_NULL;
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) return false;
    PMPI_Bcast(&ok, 1, MPI_INT, 0, comm);
    if (ok) {
        struct sink memory = {.file = -1};
        write_rank_block(&memory, true);
        if (record_rank != 0) {
            send_block(comm, &memory);
        } else {
            struct sink out = {.file = file, .words = memory.words, .used = memory.failed ? 0 : memory.used};
            flush_sink(&out);
            for (int rank = 1; rank < record_size; ++rank) receive_block(comm, rank, &out);
            ok = close(file) == 0 && !out.failed && rename(unfinished, name) == 0;
            file = -1;
        }
        free(memory.words);
    }
    if (file >= 0) close(file);
    if (record_rank == 0 && !ok) unlink(unfinished);
    PMPI_Comm_free(&comm);
    return ok;
}
