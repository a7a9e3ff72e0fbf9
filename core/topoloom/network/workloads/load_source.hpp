// SPDX-License-Identifier: BSD-3-Clause
// Interface of workloads with a given injection rate.
#pragma once

#include <cstddef>
#include <cstdint>

#include "topoloom/network/workload.hpp"

namespace topoloom {

/// A workload with an injection rate.
class LoadSource : public Workload {
   public:
    /// Injection rate in flits per sending node and cycle.
    [[nodiscard]] virtual double load() const = 0;
    [[nodiscard]] virtual bool sends(Node node) const = 0;
    [[nodiscard]] virtual std::size_t sender_count() const = 0;
    /// Mean number of flits received for each flit sent.
    [[nodiscard]] virtual double mean_copies() const { return 1; }
    /// Cycles since the creation of the oldest packet that the node holds back, or 0.
    [[nodiscard]] virtual std::uint64_t held_back_cycles(Node /*node*/, std::uint64_t /*cycle*/) const {
        return 0;
    }
};

}  // namespace topoloom
