// SPDX-License-Identifier: BSD-3-Clause
// Measures the time in which at least one thread is inside an MPI call.
//
// The sum is (ticks of the ends) - (ticks of the starts), so threads need no common variable for the start. It is
// negative exactly while a call is in progress, because ticks count from long before the program's start.
#ifndef TOPOLOOM_CALL_TIMER_H
#define TOPOLOOM_CALL_TIMER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

extern _Atomic int64_t record_call_ticks;
extern atomic_int record_calling_threads;        // counted only with MPI_THREAD_MULTIPLE
extern _Thread_local bool record_call_is_timed;  // this thread is inside a timed call
extern bool record_has_tick_counter;             // the CPU has a counter of constant frequency
extern bool record_is_multithreaded;

/// Returns ticks of the CPU's counter, which costs a third of clock_gettime; elsewhere, nanoseconds.
static inline int64_t read_ticks(void) {
#if defined(__x86_64__)
    if (record_has_tick_counter) return (int64_t)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    int64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// Adds without a locked instruction. Only one thread at a time calls MPI without MPI_THREAD_MULTIPLE.
static inline void add_call_ticks(int64_t ticks) {
    const int64_t sum = atomic_load_explicit(&record_call_ticks, memory_order_relaxed);
    atomic_store_explicit(&record_call_ticks, sum + ticks, memory_order_relaxed);
}

static inline void start_call_timer(void) {
    record_call_is_timed = true;
    if (!record_is_multithreaded)
        add_call_ticks(-read_ticks());
    else if (atomic_fetch_add(&record_calling_threads, 1) == 0)
        atomic_fetch_sub(&record_call_ticks, read_ticks());
}

static inline void stop_call_timer(void) {
    if (!record_call_is_timed) return;
    record_call_is_timed = false;
    if (!record_is_multithreaded)
        add_call_ticks(read_ticks());
    else if (atomic_fetch_sub(&record_calling_threads, 1) == 1)
        atomic_fetch_add(&record_call_ticks, read_ticks());
}

#endif
