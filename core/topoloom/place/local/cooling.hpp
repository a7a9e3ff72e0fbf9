// SPDX-License-Identifier: BSD-3-Clause
// The cooling schedule of simulated annealing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace topoloom::local {

/// The temperature falls from `first` to `last`, by the same factor in equal steps of progress.
struct Cooling {
    double first;
    double last;
    [[nodiscard]] double at(double progress) const {
        return first * std::pow(last / first, std::min(1.0, progress));
    }

    /// Derives temperatures from the mean loss of proposals in the current placement. A temperature of half
    /// the mean loss destroys even a good placement; at a hundredth of it, losses are hardly ever accepted.
    /// Tuned on meshes, random geometric graphs and collectives on tori, fragments of tori, and trees.
    [[nodiscard]] static Cooling from_losses(std::span<const std::int64_t> losses, std::uint32_t heat) {
        double sum = 0;
        for (const std::int64_t loss : losses) sum += static_cast<double>(loss);
        const double mean = losses.empty() ? 1 : sum / static_cast<double>(losses.size());
        const double last = 0.01 * mean;
        return {std::max(last, 0.5 * mean * heat / 1000), last};
    }
};

}  // namespace topoloom::local
