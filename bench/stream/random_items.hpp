// SPDX-License-Identifier: BSD-3-Clause
// Random items and their target ranks, for programs that time streams.
#pragma once

#include <cstdint>
#include <ctime>

inline int rank, ranks;

inline double read_cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Draw {
    uint64_t state;
    uint64_t operator()() { return state = state * 6364136223846793005ULL + 1442695040888963407ULL; }
};

/// Avoids a division, which would take longer than a push.
inline int choose_other_rank(uint64_t random) {
    const auto step = static_cast<int>(((random >> 32) * static_cast<uint64_t>(ranks - 1)) >> 32);
    const int to = rank + 1 + step;
    return to < ranks ? to : to - ranks;
}
