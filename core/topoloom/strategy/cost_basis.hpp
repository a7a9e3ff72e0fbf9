// SPDX-License-Identifier: BSD-3-Clause
// The machine, placement and network model of a setting.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/schedule/cost/network_model.hpp"
#include "topoloom/strategy/setting.hpp"

namespace topoloom {

struct CostBasis {
    NetworkModel model;
    /// A machine that was given, or one switch between nodes that were not told apart. Null where every rank is on a node of
    /// its own, or all on one, and nothing is known of the network.
    std::shared_ptr<const Machine> machine;
    std::vector<Slot> slots;  // of each rank on it; ranks of a node may share one
    std::size_t nodes = 1;    // with ranks on them
    bool machine_is_given = false;
    bool placement_is_given = false;

    /// Numbers that only the ranks of a node have.
    [[nodiscard]] std::vector<std::size_t> node_of_rank(std::size_t ranks) const;
};

/// Rank r is on slots[r]. A model that says nothing of receivers costs these no less than senders: in this
/// and the other functions. Without a model a message costs what the machine says. Throws Error for links whose bandwidth is not
/// known, and nodes that are not usable.
[[nodiscard]] CostBasis cost_basis_on(std::shared_ptr<const Machine> machine, std::vector<Slot> slots,
                                      std::optional<NetworkModel> model = std::nullopt);

/// Every rank on a node of its own, without link contention.
[[nodiscard]] CostBasis cost_basis_apart(std::size_t ranks, const NetworkModel& model);

/// Without a line `message` in the setting a message costs what the machine says, if it says what its start takes, else
/// what it does on InfiniBand HDR (models/hdr.toml). Throws Error that names what is wrong: a line or a key of a file, a rank
/// whose node is not known, another number of ranks or another machine than in the placement, and links whose bandwidth is
/// not known.
[[nodiscard]] CostBasis find_cost_basis(const Setting& setting);

}  // namespace topoloom
