// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr double exact_limit = 0x1.0p52;  // up to this limit, doubles represent sums of integers exactly

void check_sharing(const Sharing& sharing, std::size_t slot_count) {
    if (sharing.imbalance && !(std::isfinite(*sharing.imbalance) && *sharing.imbalance >= 0))
        fail("the imbalance is ", *sharing.imbalance, "; it must be 0 or more, as in 0.03 for 3 %");
    if (sharing.capacity.empty()) return;
    if (sharing.capacity.size() != slot_count)
        fail("there are ", sharing.capacity.size(), " capacities for ", slot_count,
             " slots; give one per slot");
    for (std::size_t i = 0; i < slot_count; ++i) {
        if (!std::isfinite(sharing.capacity[i]) || sharing.capacity[i] < 0)
            fail("capacity ", i, " is ", sharing.capacity[i], "; capacities must be finite and not negative");
    }
}

}  // namespace

Capacity::Capacity(const CommGraph& graph, const Allocation& allocation, const Sharing& sharing) {
    const std::size_t ranks = graph.rank_count();
    const std::size_t slots = allocation.slot_count();
    if (ranks == 0) fail("there are no ranks to place");
    check_sharing(sharing, slots);
    if (ranks > slots && !sharing.imbalance && sharing.capacity.empty()) {
        fail(ranks, " ranks do not fit on the ", slots, " slots of ", allocation.nodes().size(),
             " nodes; allocate more nodes, start fewer ranks, or let ranks share slots with an imbalance of "
             "0");
    }
    one_rank_per_slot_ = ranks <= slots && sharing.capacity.empty();
    if (one_rank_per_slot_) {
        mass_.assign(ranks, 1);
        capacity_.assign(slots, 1);
        return;
    }
    double total = 0;
    double heaviest = 0;
    bool whole = true;
    for (const Rank u : ids<Rank>(ranks)) {
        total += graph.load(u);
        heaviest = std::max(heaviest, graph.load(u));
        whole = whole && graph.load(u) == std::floor(graph.load(u));
    }
    whole = whole && total < exact_limit;
    // Scaling the total to 2^40 units leaves headroom for sums; rounding then changes a slot's load by less
    // than one part in 10^6.
    const double scale = whole || total == 0 ? 1.0 : 0x1.0p40 / total;
    mass_.reserve(ranks);
    for (const Rank u : ids<Rank>(ranks))
        mass_.push_back(static_cast<std::int64_t>(std::ceil(graph.load(u) * scale)));
    const std::int64_t mass = std::accumulate(mass_.begin(), mass_.end(), std::int64_t{0});
    // No slot needs more capacity than the load of all ranks; the sum of all capacities must fit 64 bits.
    const double most = std::min(static_cast<double>(mass), 0x1.0p61 / static_cast<double>(slots));
    const auto capacity = [&](double c) { return static_cast<std::int64_t>(std::min(c, most)); };
    if (sharing.capacity.empty()) {
        const auto count = static_cast<std::int64_t>(slots);
        const auto share = static_cast<double>((mass + count - 1) / count);
        capacity_.assign(slots, capacity((1 + sharing.imbalance.value_or(0)) * share + 1e-9));
        if (heaviest * scale > static_cast<double>(capacity_.front())) {
            fail("a rank has load ", heaviest, ", but with ", slots, " slots each may hold only ",
                 static_cast<double>(capacity_.front()) / scale, "; allow an imbalance of ",
                 std::ceil(100 * (heaviest * scale / share - 1)) / 100, " or more");
        }
        return;
    }
    // Rounding must not reject loads that fit exactly.
    const double tolerance = whole ? 1 : 1 + 1e-9;
    for (const double c : sharing.capacity) capacity_.push_back(capacity(c * scale * tolerance));
    const double largest = *std::ranges::max_element(sharing.capacity);
    const std::int64_t held = std::accumulate(capacity_.begin(), capacity_.end(), std::int64_t{0});
    if (held < mass)
        fail("the ranks have a load of ", total, " in all, but the capacities add up to ",
             static_cast<double>(held) / scale, whole ? ", rounded down as all loads are integers" : "");
    if (heaviest > largest) fail("a rank has load ", heaviest, ", but the largest capacity is ", largest);
}

}  // namespace topoloom
