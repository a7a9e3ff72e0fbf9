// SPDX-License-Identifier: BSD-3-Clause
// Learns a regular machine from the groups that processes share, and assigns slots to processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// The groups of each process, outermost first: entry p * levels + l is the group of process p at level l.
/// Equal numbers mean the same group only inside the same group of the previous level.
struct Groups {
    std::size_t processes;
    std::size_t levels;
    std::span<const std::int64_t> ids;

    [[nodiscard]] std::span<const std::int64_t> of(std::size_t process) const {
        return ids.subspan(process * levels, levels);
    }
};

/// A machine text, and the slot of each process.
struct MappedProcesses {
    std::string machine;
    std::vector<Slot> slots;
};

/// Learns the smallest tree with equal groups on each level that has a slot for each process. Levels up to
/// `node_level` are switches; lower levels are shared by cores. Levels that divide no group are omitted. If
/// unequal groups would need more than 2^26 slots, the outermost switches are omitted too; throws Error if
/// that does not suffice.
[[nodiscard]] MappedProcesses learn_machine(const Groups& groups, std::size_t node_level);

/// Assigns slots of the given machine to the processes. The first group of a process is its node; the other
/// groups order the processes of a node along its slots. Throws Error for an invalid machine text and nodes
/// that do not exist.
[[nodiscard]] MappedProcesses map_to_machine(std::string_view machine, const Groups& groups);

}  // namespace topoloom
