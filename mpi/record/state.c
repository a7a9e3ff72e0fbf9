// SPDX-License-Identifier: BSD-3-Clause
#include <pthread.h>
#include <time.h>

#include "record.h"

bool record_active;
int record_rank, record_size;
int64_t record_lost;
bool record_initialized, record_spawned;
unsigned long long record_job;
MPI_Group record_world_group;
_Thread_local int record_depth;

static bool is_multithreaded_;
static pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
static int64_t start_;

static int64_t get_monotonic_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void activate_recording(bool is_multithreaded) {
    is_multithreaded_ = is_multithreaded;
    start_ = get_monotonic_ns();
    record_active = true;
}

int64_t get_elapsed_ns(void) { return get_monotonic_ns() - start_; }

void lock_recording(void) {
    if (is_multithreaded_) pthread_mutex_lock(&mutex_);
}

void unlock_recording(void) {
    if (is_multithreaded_) pthread_mutex_unlock(&mutex_);
}
