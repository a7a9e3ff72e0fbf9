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
    /// The machine of the setting, or one switch between the nodes if only the nodes are known. Null if every
    /// rank is on a separate node, or all ranks share one, and no machine is given.
    std::shared_ptr<const Machine> machine;
    std::vector<Slot> slots;  // slot by rank; ranks of a node may share one
    std::size_t nodes = 1;    // number of nodes with ranks
    bool machine_is_given = false;
    bool placement_is_given = false;

    /// Node numbers by rank.
    [[nodiscard]] std::vector<std::size_t> node_of_rank(std::size_t ranks) const;
};

/// The cost basis with rank r on slots[r]. Without a model, the machine determines the message costs. In this
/// and the following functions, a model without receive costs gets receive costs equal to the send costs.
/// Throws Error for links without bandwidth and for unusable nodes.
[[nodiscard]] CostBasis cost_basis_on(std::shared_ptr<const Machine> machine, std::vector<Slot> slots,
                                      std::optional<NetworkModel> model = std::nullopt);

/// The cost basis with every rank on a separate node, without link contention.
[[nodiscard]] CostBasis cost_basis_apart(std::size_t ranks, const NetworkModel& model);

/// The cost basis of a setting. Without a line `message` in the machine file, the machine's startup time
/// determines message costs; without a startup time, those of InfiniBand HDR are used (models/hdr.toml).
/// Throws Error, naming the line or key, for invalid files, ranks on unknown nodes, a placement with other
/// ranks or another machine, and links without bandwidth.
[[nodiscard]] CostBasis find_cost_basis(const Setting& setting);

}  // namespace topoloom
