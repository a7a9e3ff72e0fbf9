// SPDX-License-Identifier: BSD-3-Clause
// An earlier placement, and the cost of moving ranks away from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/machine/allocations/allocation.hpp"

namespace topoloom {

/// An earlier placement, and the cost of leaving it in hop-bytes: moving a rank costs `bytes_per_rank` times
/// the distance from its old slot.
struct Migration {
    std::vector<std::optional<Slot>> from;  // by rank; none: the rank is new, or its slot is gone
    Bytes bytes_per_rank{0};
};

/// The total migration cost in hop-bytes. Throws Error unless every entry of `from` is a slot of the machine
/// or none.
[[nodiscard]] std::int64_t migration_cost(const Migration& migration, const Machine& machine,
                                          std::span<const Slot> slot_of_rank);

}  // namespace topoloom
