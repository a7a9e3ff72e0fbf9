// SPDX-License-Identifier: BSD-3-Clause
// Measures the processor time of methods. The clock is read at each call, the slower processor time now and then.
#include <ctime>

#include "state.hpp"

namespace topoloom::objects {

namespace {

#ifndef SMPI_H
double seconds_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
#endif

}  // namespace

#ifdef SMPI_H  // time is simulated
double clock_seconds() { return PMPI_Wtime(); }
double processor_seconds() { return PMPI_Wtime(); }
#else
double clock_seconds() { return seconds_of(CLOCK_MONOTONIC); }
double processor_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
#endif

void State::start_measuring() {
    if (!options.measure) return;
    last_clock = clock_seconds();
    last_processor = processor_seconds();
}

void State::assign_times() {
    if (!options.measure) return;
    const double clock = clock_seconds(), processor = processor_seconds();
    const double elapsed = clock - last_clock, used = processor - last_processor;
    const double share = used < elapsed && elapsed > 0 ? used / elapsed : 1;
    for (const auto& [resident, seconds] : calls) resident->seconds += share * seconds;
    calls.clear();
    last_clock = clock;
    last_processor = processor;
}

}  // namespace topoloom::objects
