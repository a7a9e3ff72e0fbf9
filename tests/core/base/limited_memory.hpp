// SPDX-License-Identifier: BSD-3-Clause
// Sets a temporary memory limit like `ulimit -v`.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace topoloom {

class LimitedMemory {
   public:
    explicit LimitedMemory(std::uint64_t bytes) {
        getrlimit(RLIMIT_AS, &before_);
        const rlimit lower{bytes, before_.rlim_max};
        setrlimit(RLIMIT_AS, &lower);
    }
    ~LimitedMemory() { setrlimit(RLIMIT_AS, &before_); }
    LimitedMemory(const LimitedMemory&) = delete;
    LimitedMemory& operator=(const LimitedMemory&) = delete;

   private:
    rlimit before_{};
};

}  // namespace topoloom
