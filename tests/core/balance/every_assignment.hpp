// SPDX-License-Identifier: BSD-3-Clause
// Enumerates all assignments of tasks to ranks, for exhaustive search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// Calls `visit(owners)` for each assignment.
void for_every_assignment(std::size_t tasks, std::size_t ranks, const auto& visit) {
    std::vector<Rank> owners(tasks, Rank{0});
    for (bool more = true; more;) {
        visit(owners);
        more = false;
        for (Rank& owner : owners) {
            owner.value = (owner.value + 1) % static_cast<std::uint32_t>(ranks);
            if (owner.value != 0) {
                more = true;
                break;
            }
        }
    }
}

}  // namespace topoloom
