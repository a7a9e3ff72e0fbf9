// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace topoloom {

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t physical_memory() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t address_space_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
    return limit.rlim_cur;
}

/// The least limit of a control group and all above it. Their files say `max` where there is none.
std::uint64_t least_up_from(const std::string& root, std::filesystem::path group, const std::string& name) {
    std::uint64_t least = unlimited;
    for (;;) {
        std::ifstream file(root + group.string() + "/" + name);
        std::uint64_t limit = 0;
        if (file >> limit) least = std::min(least, limit);
        if (group == group.parent_path()) return least;
        group = group.parent_path();
    }
}

/// Lines are `4:memory:/path` (version 1) and `0::/path` (version 2), see cgroups(7).
std::uint64_t control_group_limit() {
    std::ifstream groups("/proc/self/cgroup");
    std::uint64_t least = unlimited;
    for (std::string line; std::getline(groups, line);) {
        const std::size_t path = line.find(":/");
        if (path == std::string::npos) continue;
        const std::string group = line.substr(path + 1);
        if (line.starts_with("0::"))
            least = std::min(least, least_up_from("/sys/fs/cgroup", group, "memory.max"));
        if (line.find(":memory:") != std::string::npos)
            least = std::min(least, least_up_from("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
    return least;
}

}  // namespace

std::uint64_t usable_memory() {
    return std::min({physical_memory(), address_space_limit(), control_group_limit()});
}

}  // namespace topoloom
