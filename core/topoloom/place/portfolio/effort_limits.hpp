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
    // Ranks alone on their slots.
    bool tries_many;                 // candidates, not one start of multisection
    std::size_t long_multisections;  // among the candidates, with rings as lines and as rings
    bool trusts_plain_structure;     // and ends there, on many ranks
    double annealing;                // proposals in parts of the standard; 0: few, by the number of ranks
    double region_annealing;         // proposals for each rank of 100,000, were there no messages
    bool tests_annealing;            // skips annealing that gains nothing
    std::uint32_t annealing_chains;
    // Looking at all exchanges of two ranks.
    std::size_t max_tabu_slots;
    std::size_t tabu_exchanges;
    std::size_t max_tabu_iterations;
    // Ranks that share slots.
    multilevel::MultisectionOptions sections;
    std::uint32_t islands_of_many;  // instead of those of `sections`, on more slots
    std::uint32_t brick_cycles;     // of refine
    bool refines_folds;
    std::uint32_t last_cycles;  // of refine, on the best placement; 0: none
    std::uint64_t exact_work;   // on a few ranks and slots
    // Objectives on links.
    Effort near;                // of the search for few hop-bytes that comes first
    bool tries_greedy;          // on few ranks
    std::uint64_t link_tenths;  // sweeps of annealing, in tenths of the standard
    double descent_messages;    // that local-opt looks at after annealing
};

/// We found the limits of tabu on dense and sparse random graphs on tori and trees: a few milliseconds, a fifth of a
/// second, two.
inline constexpr std::array<EffortLimits, 3> effort_limits{{
    {.tries_many = false,
     .long_multisections = 0,
     .trusts_plain_structure = true,
     .annealing = 0,
     .region_annealing = 6e8,
     .tests_annealing = false,
     .annealing_chains = 1,
     .max_tabu_slots = 128,
     .tabu_exchanges = 2'000'000,
     .max_tabu_iterations = 1000,
     .sections = {.starts = 1, .family = 2, .cuts = 0},
     .islands_of_many = 1,
     .brick_cycles = 0,
     .refines_folds = false,
     .last_cycles = 0,
     .exact_work = 20'000,
     .near = Effort::fast,
     .tries_greedy = false,
     .link_tenths = 1,
     .descent_messages = 0.25e6},
    {.tries_many = true,
     .long_multisections = 0,
     .trusts_plain_structure = true,
     .annealing = 1,
     .region_annealing = 15e8,
     .tests_annealing = true,
     .annealing_chains = 2,
     .max_tabu_slots = 256,
     .tabu_exchanges = 200'000'000,
     .max_tabu_iterations = 100'000,
     .sections = {.starts = 2, .family = 8},
     .islands_of_many = 1,
     .brick_cycles = 1,
     .refines_folds = true,
     .last_cycles = 0,
     .exact_work = 300'000,
     .near = Effort::standard,
     .tries_greedy = true,
     .link_tenths = 10,
     .descent_messages = 1e6},
    {.tries_many = true,
     .long_multisections = 2,
     .trusts_plain_structure = false,
     .annealing = 12,
     .region_annealing = 240e8,
     .tests_annealing = true,
     .annealing_chains = 2,
     .max_tabu_slots = 256,
     .tabu_exchanges = 2'400'000'000,
     .max_tabu_iterations = 1'200'000,
     .sections = {.starts = 2, .family = 8, .islands = 6},
     .islands_of_many = 14,
     .brick_cycles = 2,
     .refines_folds = true,
     .last_cycles = 2,
     .exact_work = 10'000'000,
     .near = Effort::standard,
     .tries_greedy = true,
     .link_tenths = 100,
     .descent_messages = 60e6},
}};

[[nodiscard]] constexpr const EffortLimits& limits_of(Effort effort) {
    return effort_limits[static_cast<std::size_t>(effort)];
}

}  // namespace topoloom::portfolio
