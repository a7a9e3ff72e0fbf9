// SPDX-License-Identifier: BSD-3-Clause
// Starts recording after MPI_Init if TOPOLOOM_RECORD is a folder, and finishes recording before MPI_Finalize.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

static const char* folder_;

/// Returns a random id, drawn by rank 0. Ids differ between consecutive programs and between hosts.
static unsigned long long draw_job_id(void) {
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

void start_recording(void) {
    record_initialized = true;
    if (record_active || folder_ != NULL) return;
    const char* folder = getenv(RECORD_VARIABLE);
    if (folder == NULL || folder[0] != '/') return;
    int level = MPI_THREAD_SINGLE;
    if (PMPI_Query_thread(&level) != MPI_SUCCESS ||
        PMPI_Comm_rank(MPI_COMM_WORLD, &record_rank) != MPI_SUCCESS ||
        PMPI_Comm_size(MPI_COMM_WORLD, &record_size) != MPI_SUCCESS ||
        PMPI_Comm_group(MPI_COMM_WORLD, &record_world_group) != MPI_SUCCESS)
        return;
    MPI_Comm parent = MPI_COMM_NULL;  // get the parent now, because the program may disconnect from it
    PMPI_Comm_get_parent(&parent);
    record_spawned = parent != MPI_COMM_NULL;
    record_job = draw_job_id();
    folder_ = strdup(folder);
    if (folder_ == NULL) return;
    set_phase(0);
    if (record_phase == NULL) return;
    if (!record_spawned) log_status("started %llx %d %d\n", record_job, record_rank, record_size);
    create_group_keyvals();
    prepare_crash_dump(folder_);
    install_errhandler();
    activate_recording(level == MPI_THREAD_MULTIPLE);
}

void finish_recording(void) {
    if (!record_active) return;
    stop_recording();
    remove_errhandler();
    const bool written = gather_recording(folder_);
    cancel_crash_dump();
    if (!written && record_rank == 0)
        fprintf(stderr, "topoloom: not recorded: cannot write into %s\n", folder_);
}
