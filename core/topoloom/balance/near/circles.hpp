// SPDX-License-Identifier: BSD-3-Clause
// Shipments without circles: between any two ranks there is one chain of them at most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/balance/near/matching.hpp"

namespace topoloom {

/// Around each circle, tasks go by one half of its shipments instead of the other, the dearer one, until a shipment is gone: that
/// costs nothing and saves a message. `costs` are of a task, by shipment. Every rank must be a giver or a receiver, not both.
/// O(shipments + ranks on circles).
[[nodiscard]] std::vector<Shipment> without_circles(std::vector<Shipment> shipments, std::size_t ranks,
                                                    std::span<const std::uint32_t> costs);

}  // namespace topoloom
