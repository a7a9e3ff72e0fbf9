// SPDX-License-Identifier: BSD-3-Clause
// Measures the CPU time of methods. Reads the wall clock, which is fast to read, at each call, and the CPU
// clock, which is slow, once per interval.
#include <ctime>

#include "state.hpp"

namespace topoloom::objects {

namespace {

#ifndef SMPI_H
double read_clock(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
#endif

}  // namespace

#ifdef SMPI_H  // time is simulated
double read_wall_clock() { return PMPI_Wtime(); }
double read_cpu_clock() { return PMPI_Wtime(); }
#else
double read_wall_clock() { return read_clock(CLOCK_MONOTONIC); }
double read_cpu_clock() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
#endif

void SchedulerState::start_measuring() {
    if (!options.measure) return;
    last_clock = read_wall_clock();
    last_processor = read_cpu_clock();
}

void SchedulerState::assign_method_times() {
    if (!options.measure) return;
    const double clock = read_wall_clock(), processor = read_cpu_clock();
    const double elapsed = clock - last_clock, used = processor - last_processor;
    const double share = used < elapsed && elapsed > 0 ? used / elapsed : 1;
    for (const auto& [resident, seconds] : calls) resident->seconds += share * seconds;
    calls.clear();
    last_clock = clock;
    last_processor = processor;
}

}  // namespace topoloom::objects
