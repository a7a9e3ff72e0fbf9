// SPDX-License-Identifier: BSD-3-Clause
// The plan of the search for few hop-bytes: what each effort adds to the lower ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace topoloom::portfolio {

struct HopBytesPlan {
    double seeds;                      // multisections for a graph of 10^4 edges; fewer for more edges
    std::uint32_t long_starts;         // `starts` of two longer multisections
    std::size_t edges_of_long_starts;  // on larger graphs, these take too long
    double annealing;                  // sweeps of the winner, relative to the standard
    std::size_t max_tabu_slots;        // tabu search with all pair exchanges: up to this number of slots,
    std::size_t tabu_exchanges;        // with this number of exchanges,
    std::size_t max_tabu_iterations;   // but not more iterations
};

/// The plans of fast, default and best. The tabu limits were tuned on dense and sparse random graphs on tori
/// and trees, so that tabu takes a few ms, 0.2 s and 2 s.
inline constexpr std::array<HopBytesPlan, 3> hop_bytes_plans{{
    {.seeds = 1,
     .long_starts = 0,
     .edges_of_long_starts = 0,
     .annealing = 0.1,
     .max_tabu_slots = 128,
     .tabu_exchanges = 2'000'000,
     .max_tabu_iterations = 1000},
    {.seeds = 3,
     .long_starts = 8,
     .edges_of_long_starts = 20'000,
     .annealing = 1,
     .max_tabu_slots = 256,
     .tabu_exchanges = 200'000'000,
     .max_tabu_iterations = 100'000},
    {.seeds = 12,
     .long_starts = 16,
     .edges_of_long_starts = 1'000'000,
     .annealing = 10,
     .max_tabu_slots = 256,
     .tabu_exchanges = 2'400'000'000,
     .max_tabu_iterations = 1'200'000},
}};

}  // namespace topoloom::portfolio
