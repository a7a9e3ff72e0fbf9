// SPDX-License-Identifier: BSD-3-Clause
// Whether this process is recorded: from MPI_Init to MPI_Finalize, if TOPOLOOM_RECORD names a folder.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record.h"

const struct shim shim = {"record", "TOPOLOOM_RECORD", "not recorded"};

bool record_active;
int record_rank, record_size;
int64_t record_lost;
MPI_Group record_world_group;
_Thread_local int record_depth;

static bool threads_;  // MPI_THREAD_MULTIPLE was granted: only then do two threads note at once
static pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
static int64_t started_;
static const char* folder_;

void record_lock(void) {
    if (threads_) pthread_mutex_lock(&mutex_);
}

void record_unlock(void) {
    if (threads_) pthread_mutex_unlock(&mutex_);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t record_nanoseconds(void) { return now() - started_; }

void record_start(void) {
    if (record_active || folder_ != NULL) return;
    const char* folder = getenv("TOPOLOOM_RECORD");
    if (folder == NULL || folder[0] != '/') return;
    int level = MPI_THREAD_SINGLE;
    if (PMPI_Query_thread(&level) != MPI_SUCCESS ||
        PMPI_Comm_rank(MPI_COMM_WORLD, &record_rank) != MPI_SUCCESS ||
        PMPI_Comm_size(MPI_COMM_WORLD, &record_size) != MPI_SUCCESS ||
        PMPI_Comm_group(MPI_COMM_WORLD, &record_world_group) != MPI_SUCCESS)
        return;
    threads_ = level == MPI_THREAD_MULTIPLE;
    folder_ = strdup(folder);
    if (folder_ == NULL) return;
    phase_set(0);
    if (record_phase == NULL) return;
    groups_start();
    partial_prepare(folder_);
    started_ = now();
    record_active = true;
}

void record_finish(void) {
    if (!record_active) return;
    record_active = false;
    const bool written = gather_to_file(folder_);
    partial_release();
    if (!written && record_rank == 0)
        fprintf(stderr, "topoloom: not recorded: cannot write into %s\n", folder_);
}
