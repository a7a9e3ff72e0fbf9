// SPDX-License-Identifier: BSD-3-Clause
// How the temperature of simulated annealing falls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace topoloom::local {

/// By a constant factor per step.
struct Cooling {
    double first;
    double last;
    [[nodiscard]] double at(double progress) const {
        return first * std::pow(last / first, std::min(1.0, progress));
    }

    /// Temperatures relative to what a proposal loses on average in the placement that is there. At half of it even a
    /// good placement melts; at a hundredth hardly anything is accepted that loses. We found them on meshes, random
    /// geometric graphs and collectives on tori, fragments of tori, and trees.
    [[nodiscard]] static Cooling from_losses(std::span<const std::int64_t> losses, std::uint32_t heat) {
        double sum = 0;
        for (const std::int64_t loss : losses) sum += static_cast<double>(loss);
        const double mean = losses.empty() ? 1 : sum / static_cast<double>(losses.size());
        const double last = 0.01 * mean;
        return {std::max(last, 0.5 * mean * heat / 1000), last};
    }
};

}  // namespace topoloom::local
