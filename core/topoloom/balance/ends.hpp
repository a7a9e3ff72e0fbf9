// SPDX-License-Identifier: BSD-3-Clause
// Where loads should end: at the floor of their mean or at its ceiling, and which ranks have one more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace topoloom {

/// Loads of all ranks as equal as they can be.
struct EvenLoad {
    std::int64_t floor = 0;
    std::int64_t ceiling = 0;
    std::size_t with_one_more = 0;  // ranks that end at the ceiling; none where all are equal
};

/// Throws Error if there are no ranks, a load is negative, or their sum is 2^62 or more.
[[nodiscard]] EvenLoad even_load(std::span<const std::int64_t> loads);

/// Those already at the ceiling stay there; then it is for those above it, for those below the floor, and at last for those
/// at the floor: as few ranks as possible have anything to hand over, and as few tasks move. Lowest ranks first.
[[nodiscard]] std::vector<std::int64_t> calm_ends(std::span<const std::int64_t> loads);
/// By rank, 1 where that is the ceiling and not the floor, else 0.
[[nodiscard]] std::vector<std::uint8_t> calm_extras(std::span<const std::int64_t> loads);

/// The most loaded ranks end at the ceiling, the lowest of equal ones first: the fewest tasks move, also from the rank that
/// sends most.
[[nodiscard]] std::vector<std::int64_t> ends_by_load(std::span<const std::int64_t> loads);

}  // namespace topoloom
