// SPDX-License-Identifier: BSD-3-Clause
// Whether this process is recorded: from MPI_Init to MPI_Finalize, if TOPOLOOM_RECORD names a folder.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

const struct shim shim = {"record", "TOPOLOOM_RECORD", "not recorded", mark_other_mpi};

bool record_active;
int record_rank, record_size;
int64_t record_lost;
bool record_started, record_spawned;
unsigned long long record_job;
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

/// What rank 0 draws. Programs that follow each other, on whatever hosts, draw different ones.
static unsigned long long agreed_job(void) {
    char host[256] = "";
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    gethostname(host, sizeof host - 1);
    unsigned long long job = (unsigned long long)time.tv_sec * 1000000000 + (unsigned long long)time.tv_nsec;
    job = (job ^ (unsigned long long)getpid() << 40) * 0x9E3779B97F4A7C15u;
    for (const char* c = host; *c != '\0'; ++c) job = (job ^ (unsigned char)*c) * 0x100000001B3u;
    PMPI_Bcast(&job, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    return job;
}

void record_start(void) {
    record_started = true;
    if (record_active || folder_ != NULL) return;
    const char* folder = getenv("TOPOLOOM_RECORD");
    if (folder == NULL || folder[0] != '/') return;
    int level = MPI_THREAD_SINGLE;
    if (PMPI_Query_thread(&level) != MPI_SUCCESS ||
        PMPI_Comm_rank(MPI_COMM_WORLD, &record_rank) != MPI_SUCCESS ||
        PMPI_Comm_size(MPI_COMM_WORLD, &record_size) != MPI_SUCCESS ||
        PMPI_Comm_group(MPI_COMM_WORLD, &record_world_group) != MPI_SUCCESS)
        return;
    MPI_Comm parent = MPI_COMM_NULL;  // before the program can disconnect from it
    PMPI_Comm_get_parent(&parent);
    record_spawned = parent != MPI_COMM_NULL;
    record_job = agreed_job();
    threads_ = level == MPI_THREAD_MULTIPLE;
    folder_ = strdup(folder);
    if (folder_ == NULL) return;
    phase_set(0);
    if (record_phase == NULL) return;
    if (!record_spawned) mark("started %llx %d %d\n", record_job, record_rank, record_size);
    groups_start();
    partial_prepare(folder_);
    fatal_start();
    started_ = now();
    record_active = true;
}

void record_finish(void) {
    if (!record_active) return;
    record_active = false;
    fatal_finish();
    const bool written = gather_to_file(folder_);
    partial_release();
    if (!written && record_rank == 0)
        fprintf(stderr, "topoloom: not recorded: cannot write into %s\n", folder_);
}
