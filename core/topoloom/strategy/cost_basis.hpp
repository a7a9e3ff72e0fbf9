// SPDX-License-Identifier: BSD-3-Clause
// The machine, placement and network model with which schedules are costed.
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
    /// The machine of the setting or, if only the nodes are known, a single switch between them. Null if no
    /// machine is given and every rank is on a separate node or all ranks share one.
    std::shared_ptr<const Machine> machine;
    std::vector<Slot> slots;  // by rank: its slot; ranks of a node may share one
    std::size_t nodes = 1;    // number of nodes with ranks
    bool machine_is_given = false;
    bool placement_is_given = false;

    /// By rank: its node number.
    [[nodiscard]] std::vector<std::size_t> node_of_rank(std::size_t ranks) const;
};

/// The cost basis with rank r on slots[r]. Without a model, the machine determines message costs. This and
/// the following functions give a model without receive costs the same receive costs as send costs. Throws
/// Error if a link has no bandwidth or a node is unusable.
[[nodiscard]] CostBasis cost_basis_on(std::shared_ptr<const Machine> machine, std::vector<Slot> slots,
                                      std::optional<NetworkModel> model = std::nullopt);

/// The cost basis with every rank on a separate node and no contention for links.
[[nodiscard]] CostBasis cost_basis_apart(std::size_t ranks, const NetworkModel& model);

/// The cost basis of a setting. If the machine file has no line `message`, the machine's startup time
/// determines message costs; without a startup time, costs are those of InfiniBand HDR (models/hdr.toml).
/// Throws Error, naming the line or key, if a file is invalid, a rank is on an unknown node, or a link has no
/// bandwidth. Also throws Error if the placement is for other ranks or another machine.
[[nodiscard]] CostBasis find_cost_basis(const Setting& setting);

}  // namespace topoloom
