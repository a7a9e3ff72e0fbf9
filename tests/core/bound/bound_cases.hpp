// SPDX-License-Identifier: BSD-3-Clause
// Random patterns on random allocations of all machines, and optima of small cases by exhaustive search.
#pragma once

#include <doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "machine/machine_texts.hpp"
#include "metric/random_problem.hpp"
#include "topoloom/bound/bound_problem.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/judge.hpp"

/// Number of drawn cases per law; a longer run sets TOPOLOOM_BOUND_CASES.
inline std::uint64_t bound_case_count(std::uint64_t usual) {
    const char* const wanted = std::getenv("TOPOLOOM_BOUND_CASES");
    return wanted == nullptr ? usual : std::strtoull(wanted, nullptr, 10);
}

/// Calls law(graph, allocation, rng) for every machine, with an allocation of at most `slots` random slots in
/// random order. Draws the cases from the seeds after `seed`.
template <class Law>
void for_each_bound_case(std::size_t slots, const Law& law, std::uint64_t seed = 0) {
    std::vector<std::string> texts = machine_texts();
    texts.insert(texts.end(), {"torus:3x3+node:3:2,distance=1:2:5", "torus:3x4+node:3", "tree:3:2+node:4",
                               "torus:3x4+node:3,port=0:5:2", "tree:3:2+node:2:2,distance=1:2:3,port=4:0"});
    for (const std::string& text : texts) {
        CAPTURE(text);
        topoloom::Rng rng(++seed);
        const topoloom::Machine machine = topoloom::make_machine(text);
        if (machine.max_distance() > 60'000) continue;  // some nodes cannot reach others
        const topoloom::Allocation whole = topoloom::Allocation::whole(machine);
        std::vector<topoloom::Slot> some(whole.slots().begin(), whole.slots().end());
        rng.shuffle(std::span(some));
        some.resize(std::min(slots, some.size()));
        const auto allocation = topoloom::Allocation::of_slots(machine, some);
        const auto most = static_cast<std::uint32_t>(some.size());
        const std::size_t ranks = 1 + rng.below(most) / 2 + most / 2;
        const auto graph = random_pattern(std::min<std::size_t>(ranks, most), 3 * ranks, rng);
        law(graph, allocation, rng);
    }
}

/// Calls use(placement) for every placement of the ranks on distinct slots of an allocation.
template <class Use>
void for_each_placement(const topoloom::Allocation& allocation, std::size_t ranks, const Use& use) {
    std::vector<topoloom::Slot> slots(allocation.slots().begin(), allocation.slots().end());
    std::ranges::sort(slots);
    do {
        use(topoloom::Placement(allocation,
                                {slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(ranks)}));
        // Continues with the next choice of slots; skips permutations of the unused slots.
        std::ranges::reverse(slots.begin() + static_cast<std::ptrdiff_t>(ranks), slots.end());
    } while (std::ranges::next_permutation(slots).found);
}

inline std::int64_t min_hop_bytes_of_all(const topoloom::CommGraph& graph,
                                         const topoloom::Allocation& allocation) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for_each_placement(allocation, graph.rank_count(), [&](const topoloom::Placement& placement) {
        least = std::min(least, hop_bytes(graph, allocation.machine(), placement.slots(), 1));
    });
    return least;
}
