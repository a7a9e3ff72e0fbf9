// SPDX-License-Identifier: BSD-3-Clause
// The plan of the search for few hop-bytes: what each effort adds to the lower ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace topoloom::portfolio {

struct HopBytesPlan {
    double seeds;
    std::uint32_t long_starts;
    std::size_t edges_of_long_starts;
    double annealing;
    std::size_t max_tabu_slots;
    std::size_t tabu_exchanges;
    std::size_t max_tabu_iterations;
    std::size_t tabu_runs;

    void visit(auto& field) const {
        field("seeds", seeds, "multisections of a graph of 10^4 edges; fewer for more edges");
        field("long-starts", long_starts, "first splits tried by each of two longer multisections");
        field("edges-of-long-starts", edges_of_long_starts, "most edges for the two longer multisections");
        field("annealing", annealing, "sweeps that anneal the best placement, relative to the standard");
        field("max-tabu-slots", max_tabu_slots, "most slots for tabu search with all pair exchanges");
        field("tabu-exchanges", tabu_exchanges, "pair exchanges that tabu search evaluates");
        field("max-tabu-iterations", max_tabu_iterations, "most iterations of tabu search");
        field("tabu-runs", tabu_runs, "starts that share the iterations of tabu search");
    }
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
     .max_tabu_iterations = 1000,
     .tabu_runs = 1},
    {.seeds = 3,
     .long_starts = 8,
     .edges_of_long_starts = 20'000,
     .annealing = 1,
     .max_tabu_slots = 256,
     .tabu_exchanges = 200'000'000,
     .max_tabu_iterations = 100'000,
     .tabu_runs = 5},
    {.seeds = 12,
     .long_starts = 16,
     .edges_of_long_starts = 1'000'000,
     .annealing = 10,
     .max_tabu_slots = 256,
     .tabu_exchanges = 2'400'000'000,
     .max_tabu_iterations = 1'200'000,
     .tabu_runs = 20},
}};

}  // namespace topoloom::portfolio
