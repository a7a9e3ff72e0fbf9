// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/memory.hpp"

#include <unistd.h>

namespace topoloom {

std::uint64_t physical_memory() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace topoloom
