// SPDX-License-Identifier: BSD-3-Clause
#if defined(__x86_64__)
#include <cpuid.h>
#endif
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
_Atomic int64_t record_call_ticks;
atomic_int record_calling_threads;
_Thread_local bool record_call_is_timed;
bool record_has_tick_counter, record_is_multithreaded;

static pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
static int64_t start_, start_ticks_;
static struct durations final_;

static int64_t get_monotonic_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool has_tick_counter(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8) != 0;  // invariant TSC
#else
    return false;
#endif
}

void activate_recording(bool is_multithreaded) {
    record_is_multithreaded = is_multithreaded;
    record_has_tick_counter = has_tick_counter();
    start_ = get_monotonic_ns();
    start_ticks_ = read_ticks();
    record_active = true;
}

void stop_recording(void) {
    final_ = get_durations();
    record_active = false;
}

struct durations get_durations(void) {
    if (!record_active) return final_;
    const int64_t ticks = read_ticks(), elapsed_ticks = ticks - start_ticks_;
    struct durations found = {.run = get_monotonic_ns() - start_, .calls = 0};
    int64_t call_ticks = atomic_load(&record_call_ticks);
    if (call_ticks < 0) call_ticks += ticks;
    // Ratio of two intervals, so that the frequency of the counter need not be known.
    const double share = elapsed_ticks > 0 ? (double)call_ticks / (double)elapsed_ticks : 0;
    found.calls = (int64_t)((double)found.run * (share < 0 ? 0 : share > 1 ? 1 : share));
    return found;
}

void lock_recording(void) {
    if (record_is_multithreaded) pthread_mutex_lock(&mutex_);
}

void unlock_recording(void) {
    if (record_is_multithreaded) pthread_mutex_unlock(&mutex_);
}
