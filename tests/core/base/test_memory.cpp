// SPDX-License-Identifier: BSD-3-Clause
// The memory limit is physical memory, or the configured limit if lower.
#include <doctest.h>

#include <cstdint>

#include "limited_memory.hpp"
#include "topoloom/base/memory.hpp"

using namespace topoloom;

TEST_CASE("the reported memory is at most the limit on the address space") {
    const std::uint64_t all = usable_memory();
    CHECK(all > 1'000'000);
    {
        const LimitedMemory limited(all / 2);
        CHECK(usable_memory() == all / 2);
    }
    CHECK(usable_memory() == all);
}
