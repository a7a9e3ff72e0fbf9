// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace topoloom {

std::uint64_t usable_memory() {
    const auto physical = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return physical;
    return std::min<std::uint64_t>(physical, limit.rlim_cur);
}

}  // namespace topoloom
