// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/target_loads.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "topoloom/base/error.hpp"

namespace topoloom {

EvenLoad compute_even_load(std::span<const std::int64_t> loads) {
    if (loads.empty()) fail("there are no loads; give one for each rank");
    constexpr std::int64_t limit = std::int64_t{1} << 62;
    const auto ranks = static_cast<std::int64_t>(loads.size());
    std::int64_t sum = 0;
    // Adds without branches; the bitwise OR of all loads shows whether one of them may be negative or too
    // large.
    std::int64_t bits = 0;
    for (const std::int64_t load : loads) bits |= load;
    const bool is_safe = bits >= 0 && bits < limit / ranks;
    for (std::size_t i = 0; is_safe && i < loads.size(); ++i) sum += loads[i];
    for (std::size_t i = 0; !is_safe && i < loads.size(); ++i) {
        if (loads[i] < 0) fail("rank ", i, " has a load of ", loads[i], "; loads are at least 0");
        if (loads[i] >= limit - sum) fail("the loads of ranks 0 to ", i, " add up to 2^62 or more");
        sum += loads[i];
    }
    return {sum / ranks, (sum + ranks - 1) / ranks, static_cast<std::size_t>(sum % ranks)};
}

std::vector<std::uint8_t> target_extras(std::span<const std::int64_t> loads) {
    const EvenLoad even = compute_even_load(loads);
    std::vector<std::uint8_t> extras(loads.size(), 0);
    if (even.ranks_at_ceiling == 0) return extras;
    const auto turn_of = [&](std::int64_t load) -> std::size_t {
        // Uses arithmetic instead of branches, half of which would be mispredicted.
        const std::size_t below = load < even.ceiling ? 1 : 0;
        return 2 * below + static_cast<std::size_t>(below == 1 ? load == even.floor : load != even.ceiling);
    };
    std::array<std::size_t, 4> left{};
    for (const std::int64_t load : loads) ++left[turn_of(load)];
    std::size_t unassigned = even.ranks_at_ceiling;
    for (std::size_t& ranks : left) {
        ranks = std::min(ranks, unassigned);
        unassigned -= ranks;
    }
    for (std::size_t i = 0; i < loads.size(); ++i) {
        std::size_t& ranks = left[turn_of(loads[i])];
        extras[i] = ranks > 0 ? 1 : 0;
        ranks -= extras[i];
    }
    return extras;
}

std::vector<std::int64_t> target_loads(std::span<const std::int64_t> loads) {
    const std::int64_t floor = compute_even_load(loads).floor;
    std::vector<std::int64_t> ends;
    ends.reserve(loads.size());
    for (const std::uint8_t extra : target_extras(loads)) ends.push_back(floor + extra);
    return ends;
}

std::vector<std::int64_t> targets_by_load(std::span<const std::int64_t> loads) {
    const EvenLoad even = compute_even_load(loads);
    std::vector<std::int64_t> ends(loads.size(), even.floor);
    if (even.ranks_at_ceiling == 0) return ends;
    std::vector<std::int64_t> sorted_loads(loads.begin(), loads.end());
    const auto last = sorted_loads.begin() + static_cast<std::ptrdiff_t>(even.ranks_at_ceiling - 1);
    std::ranges::nth_element(sorted_loads, last, std::greater());
    const std::int64_t least = *last;  // least load among the ranks at the ceiling
    std::size_t equal = even.ranks_at_ceiling;
    for (const std::int64_t load : loads) equal -= load > least ? 1 : 0;
    for (std::size_t i = 0; i < loads.size(); ++i) {
        if (loads[i] < least || (loads[i] == least && equal == 0)) continue;
        if (loads[i] == least) --equal;
        ++ends[i];
    }
    return ends;
}

}  // namespace topoloom
