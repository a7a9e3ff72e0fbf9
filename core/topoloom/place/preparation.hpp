// SPDX-License-Identifier: BSD-3-Clause
// Charges the preparations of mappers to the budget of the search.
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom {

/// Charges a step that visits `elements` ranks, slots or edges, about 0.1 us per unit of work. Call it before
/// the step: if it returns false, the budget does not allow the step.
inline bool charge_step(Meter& meter, std::size_t elements) {
    constexpr std::size_t elements_per_unit = 16;
    meter.spend(1 + elements / elements_per_unit);
    return meter.poll();
}

/// Charges the preparation of a search and makes Problem::symmetric(), which every search needs. Returns false
/// if the budget does not allow this, or no more than this.
bool charge_preparation(Meter& meter, const Problem& problem);

/// The mean number of links that a message between two nodes of the allocation visits, from a sample.
[[nodiscard]] double estimate_links_per_route(const Allocation& allocation);

/// Charges the construction of link loads, which routes all messages. As nothing can interrupt it, returns
/// false, too, if it would probably take more than the remaining time.
bool charge_link_loads(Meter& meter, const Problem& problem);

/// Block order, which constructors return if the budget does not even allow their preparations. Requires one
/// rank per slot.
[[nodiscard]] inline Placement fall_back_to_block(const Problem& problem) {
    const auto slots = problem.allocation().slots().first(problem.rank_count());
    return {problem.allocation(), std::vector<Slot>(slots.begin(), slots.end())};
}

}  // namespace topoloom
