// SPDX-License-Identifier: BSD-3-Clause
// NearSlots as plain lists, for searches that ask for no other distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/machine/allocation.hpp"

namespace topoloom {

/// For every position of an allocation those nearest to it, as many as `count` says, nearest first.
struct NearLists {
    std::uint32_t count;
    std::vector<std::uint32_t> all;
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t position) const {
        return std::span(all).subspan(std::size_t{position} * count, count);
    }
};

/// Up to `count` of them, as there are fewer in small allocations.
[[nodiscard]] NearLists list_near(const Allocation& allocation, std::uint32_t count, int threads);

}  // namespace topoloom
