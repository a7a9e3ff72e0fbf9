// SPDX-License-Identifier: BSD-3-Clause
// Objectives of placements.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "topoloom/pattern/comm_graph.hpp"

namespace topoloom {

/// hop_bytes   bytes times distance
/// congestion  bytes / bandwidth of the busiest link, in seconds (Sudheer 2012, ch. 7)
/// soft        congestion with a smooth maximum: the 8-norm over all links
/// time        predicted time including startup and latency; see PhaseTime
/// Values of each kind are summed over the phases of a pattern, because messages of different phases never
/// share links.
enum class ObjectiveKind : std::size_t { hop_bytes, congestion, soft, time };

/// One kind of objective, or a weighted mix.
struct Objective {
    std::array<double, 4> weight{1, 0, 0, 0};  // by ObjectiveKind
    bool relative = false;  // whether values are relative to block placement, with rank i on slot i

    [[nodiscard]] double of(ObjectiveKind kind) const { return weight[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] bool is(ObjectiveKind kind) const;
};

/// Reads hop-bytes, congestion, congestion-soft, time, or a mix such as weighted(hop-bytes=1,congestion=2).
/// Throws Error for other text.
[[nodiscard]] Objective parse_objective(std::string_view text);

[[nodiscard]] std::string_view name_of(ObjectiveKind kind);
[[nodiscard]] Objective objective_of(ObjectiveKind kind);

/// An objective with the phases that it is evaluated on.
struct PhasedObjective {
    Objective mix;
    std::vector<const CommGraph*> phases;  // at least one phase
    /// Bytes of other jobs on each link, the same in every phase; may be empty.
    std::span<const double> background{};
    std::array<double, 4> unit{1, 1, 1, 1};  // normalization, by ObjectiveKind
};

}  // namespace topoloom
