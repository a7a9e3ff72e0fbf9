// SPDX-License-Identifier: BSD-3-Clause
// Search limits of `auto` for each effort.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "topoloom/place/effort.hpp"
#include "topoloom/place/multilevel/multisection.hpp"

namespace topoloom::portfolio {

struct EffortLimits {
    // Limits for ranks that share slots.
    multilevel::MultisectionOptions sections;
    std::uint32_t islands_of_many;  // replaces sections.islands on many slots
    std::uint32_t brick_cycles;
    bool refines_folds;
    std::uint32_t last_cycles;
    std::uint64_t exact_work;
    // Limits for objectives on links.
    Effort near;
    bool tries_greedy;
    std::uint64_t link_tenths;
    double descent_messages;
    std::size_t multisections;
    std::uint32_t node_sweeps;
    std::uint32_t rank_sweeps;

    void visit_shared_slots(auto& field) const {
        field("starts", sections.starts, "first splits tried by multisection");
        field("family", sections.family, "splits of the coarsest graph, which evolve");
        field("islands", sections.islands, "families on few slots");
        field("islands-of-many", islands_of_many, "families on many slots");
        field("cuts", sections.cuts, "rounds of minimum cuts between groups");
        field("brick-cycles", brick_cycles, "cycles of refine after structured starts");
        field("refines-folds", refines_folds, "whether folds are refined");
        field("last-cycles", last_cycles, "cycles of the final refine");
        field("exact-work", exact_work, "limit of the preceding exact search on few slots");
    }
    void visit_links(auto& field) const {
        field("tries-greedy", tries_greedy, "whether few ranks start from greedy mappers, too");
        field("multisections", multisections, "multisections of many ranks, beyond those of lower efforts");
        field("node-sweeps", node_sweeps,
              "sweeps that exchange nodes of the best starts, for each of 8 runs");
        field("rank-sweeps", rank_sweeps, "sweeps that then exchange ranks");
        field("annealing", static_cast<double>(link_tenths) / 10,
              "annealing sweeps, relative to the standard");
        field("descent-messages", descent_messages, "messages that local-opt evaluates after annealing");
    }
};

/// Limits for fast, default and best.
inline constexpr std::array<EffortLimits, 3> effort_limits{{
    {.sections = {.starts = 1, .family = 2, .cuts = 0},
     .islands_of_many = 1,
     .brick_cycles = 0,
     .refines_folds = false,
     .last_cycles = 0,
     .exact_work = 300'000,
     .near = Effort::fast,
     .tries_greedy = false,
     .link_tenths = 1,
     .descent_messages = 0.25e6,
     .multisections = 2,
     .node_sweeps = 40,
     .rank_sweeps = 10},
    {.sections = {.starts = 2, .family = 8},
     .islands_of_many = 1,
     .brick_cycles = 1,
     .refines_folds = true,
     .last_cycles = 0,
     .exact_work = 300'000,
     .near = Effort::standard,
     .tries_greedy = true,
     .link_tenths = 10,
     .descent_messages = 1e6,
     .multisections = 3,
     .node_sweeps = 100,
     .rank_sweeps = 30},
    {.sections = {.starts = 2, .family = 8, .islands = 6},
     .islands_of_many = 14,
     .brick_cycles = 2,
     .refines_folds = true,
     .last_cycles = 2,
     .exact_work = 10'000'000,
     .near = Effort::standard,
     .tries_greedy = true,
     .link_tenths = 100,
     .descent_messages = 60e6,
     .multisections = 24,
     .node_sweeps = 1000,
     .rank_sweeps = 300},
}};

[[nodiscard]] constexpr const EffortLimits& limits_of(Effort effort) {
    return effort_limits[static_cast<std::size_t>(effort)];
}

}  // namespace topoloom::portfolio
