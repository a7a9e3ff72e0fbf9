// SPDX-License-Identifier: BSD-3-Clause
// How many bytes per second the routes from some nodes to others can carry.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom::bound {

/// Bounds the traffic that routes can carry, if the machine's routes do not depend on the load.
class RouteCapacity {
   public:
    explicit RouteCapacity(const NetworkView& network);

    /// Tells whether it is enough to know that a rate is between two values.
    using IsSettled = std::function<bool(double least, double most)>;

    /// An upper bound on the total bytes per second from sources to targets, for any distribution of the
    /// bytes to pairs. By linear duality, it is the total bandwidth * price of all links, for prices such
    /// that no route costs less than 1. Prices follow from an approximate maximum packing of the routes
    /// (Garg, Konemann, SIAM J. Comput. 37 (2007); Fleischer, SIAM J. Discrete Math. 13 (2000)), which
    /// stops when it is settled or at the end of the budget. Infinity if a route has no links, or if the
    /// routes have more than 2^24.
    [[nodiscard]] double bound_rate(std::span<const Node> sources, std::span<const Node> targets,
                                    const IsSettled& is_settled, Meter& meter);

   private:
    const NetworkView& network_;
    std::vector<std::uint32_t> number_;  // by link; in the routes that were collected last
};

}  // namespace topoloom::bound
