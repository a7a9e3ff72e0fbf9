// SPDX-License-Identifier: BSD-3-Clause
// A regular machine around processes that are known by the groups they share, and their slots on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// The groups of each process, outermost first: entry p * levels + l. Equal numbers mean the same group
/// only within the same group of the level before.
struct Groups {
    std::size_t processes;
    std::size_t levels;
    std::span<const std::int64_t> ids;

    [[nodiscard]] std::span<const std::int64_t> of(std::size_t process) const {
        return ids.subspan(process * levels, levels);
    }
};

/// The short text of a machine, and the slot of each process.
struct Seated {
    std::string machine;
    std::vector<Slot> slots;
};

/// The smallest tree of equal groups that holds all processes, each on a slot of its own; switches above
/// `node_level`, what cores share below it. Levels at which no group is divided are left out; where ragged
/// groups would need more than 2^26 slots, the outermost switches are. Throws Error where that does not
/// help.
[[nodiscard]] Seated learn_machine(const Groups& groups, std::size_t node_level);

/// Processes on the machine of the text; the first group is the node, the others order the processes of a
/// node along its slots. Throws Error for a text that is none, and nodes that the machine lacks.
[[nodiscard]] Seated seat_on_machine(std::string_view machine, const Groups& groups);

}  // namespace topoloom
