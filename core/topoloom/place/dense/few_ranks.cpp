// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/dense/few_ranks.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "topoloom/place/state/arrangement.hpp"
#include "topoloom/place/state/dense_qap.hpp"
#include "topoloom/qap/exact/slot_symmetry.hpp"

namespace topoloom::dense {

namespace {

constexpr std::size_t max_ranks = 10;
constexpr std::size_t max_slots = 1024;

/// The distances between all slots, and their symmetries.
class SlotDistances {
   public:
    explicit SlotDistances(const Allocation& allocation)
        : slots_(allocation.slot_count()), distances_(dense_distances(allocation)) {}

    [[nodiscard]] std::size_t slot_count() const { return slots_; }
    [[nodiscard]] std::span<const std::int64_t> row(std::size_t slot) const {
        return std::span(distances_).subspan(slot * slots_, slots_);
    }
    [[nodiscard]] bool are_symmetric() const {
        for (std::size_t a = 0; a < slots_; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                if (row(a)[b] != row(b)[a]) return false;
            }
        }
        return true;
    }
    /// By slot: the first slot with equal distances to all others, or the slot itself.
    [[nodiscard]] std::vector<std::size_t> find_twins() const {
        std::vector<std::size_t> first(slots_);
        std::vector<std::int64_t> sums(slots_);
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            first[slot] = slot;
            sums[slot] = std::reduce(row(slot).begin(), row(slot).end());
            for (std::size_t before = 0; before < slot && first[slot] == slot; ++before) {
                if (first[before] == before && sums[before] == sums[slot] && are_twins(before, slot))
                    first[slot] = before;
            }
        }
        return first;
    }
    /// By slot: the first slot that is equivalent by a symmetry of all distances.
    [[nodiscard]] std::vector<Position> find_orbits() const {
        constexpr std::size_t max_slots_of_search = 128;
        if (slots_ > max_slots_of_search) return id_list<Position>(slots_);
        return qap::SlotSymmetry(slots_, distances_).orbits({});
    }
    /// Distances of each slot to its nearest slots, nearest first: [slot * count + i].
    [[nodiscard]] std::vector<std::int64_t> list_nearest(std::size_t count) const {
        std::vector<std::int64_t> nearest(slots_ * count);
        std::vector<std::int64_t> others;
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            others.assign(row(slot).begin(), row(slot).end());
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(slot));
            const auto to = nearest.begin() + static_cast<std::ptrdiff_t>(slot * count);
            std::ranges::partial_sort_copy(
                others, std::ranges::subrange(to, to + static_cast<std::ptrdiff_t>(count)));
        }
        return nearest;
    }

   private:
    [[nodiscard]] bool are_twins(std::size_t a, std::size_t b) const {
        const std::span<const std::int64_t> of_a = row(a);
        const std::span<const std::int64_t> of_b = row(b);
        for (std::size_t c = 0; c < slots_; ++c) {
            if (of_a[c] != of_b[c] && c != a && c != b) return false;
        }
        return true;
    }

    std::size_t slots_;
    std::vector<std::int64_t> distances_;
};

/// Ranks in the order in which they are placed, and the bytes that they exchange.
class OrderedRanks {
   public:
    explicit OrderedRanks(const CommGraph& graph) : bytes_(graph.rank_count() * graph.rank_count(), 0) {
        const std::size_t count = graph.rank_count();
        const std::vector<std::int64_t> sent = dense_bytes(graph, count);
        std::vector<std::int64_t> to_placed(count, 0);
        std::vector<std::int64_t> all(count, 0);
        const auto exchanged = [&](std::size_t u, std::size_t v) {
            return u == v ? 0 : sent[u * count + v] + sent[v * count + u];
        };
        for (std::size_t u = 0; u < count; ++u) {
            for (std::size_t v = 0; v < count; ++v) all[u] += exchanged(u, v);
        }
        std::vector<std::size_t> waiting(count);
        std::iota(waiting.begin(), waiting.end(), std::size_t{0});
        while (!waiting.empty()) {
            const auto next = std::ranges::max_element(
                waiting, {}, [&](std::size_t u) { return std::pair(to_placed[u], all[u]); });
            order_.push_back(*next);
            waiting.erase(next);
            for (const std::size_t u : waiting) to_placed[u] += exchanged(u, order_.back());
        }
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = 0; j < count; ++j) bytes_[i * count + j] = exchanged(order_[i], order_[j]);
        }
    }
    [[nodiscard]] std::size_t count() const { return order_.size(); }
    [[nodiscard]] std::size_t rank(std::size_t i) const { return order_[i]; }
    /// Bytes between the i-th and the j-th rank, in both directions.
    [[nodiscard]] std::int64_t bytes(std::size_t i, std::size_t j) const { return bytes_[i * count() + j]; }

   private:
    std::vector<std::size_t> order_;
    std::vector<std::int64_t> bytes_;
};

/// All costs are twice the hop-bytes, so that half of a message's cost is an integer.
class FewRanksSearch {
   public:
    FewRanksSearch(const OrderedRanks& ranks, const SlotDistances& distances, Meter& meter)
        : ranks_(ranks),
          distances_(distances),
          meter_(meter),
          slots_(distances.slot_count()),
          twins_(distances.find_twins()),
          orbits_(distances.find_orbits()),
          cost_((ranks.count() + 1) * ranks.count() * slots_, 0),
          is_used_(slots_, 0),
          at_(ranks.count()) {
        add_ahead();
    }

    /// Returns whether the search was completed. `value` is the hop-bytes to improve on.
    bool run(std::int64_t value) {
        best_value_ = 2 * value;
        place_remaining(0, 0);
        return !stopped_;
    }
    /// The slots of the ordered ranks in the best placement; empty if none was better.
    [[nodiscard]] const std::vector<std::size_t>& best() const { return best_; }

   private:
    /// [depth][rank][slot]: the cost of the messages to ranks placed before, and a bound on those to others.
    [[nodiscard]] std::span<std::int64_t> costs(std::size_t depth, std::size_t rank) {
        return std::span(cost_).subspan((depth * ranks_.count() + rank) * slots_, slots_);
    }
    /// Adds the bound of the messages between unplaced ranks at each depth. Deeper levels start from
    /// differences to the level before.
    void add_ahead() {
        const std::size_t count = ranks_.count();
        const std::vector<std::int64_t> nearest = distances_.list_nearest(count - 1);
        ahead_.assign(cost_.size(), 0);
        for (std::size_t depth = 0; depth < count; ++depth) {
            for (std::size_t rank = depth; rank < count; ++rank) {
                std::vector<std::int64_t> bytes;
                for (std::size_t other = depth; other < count; ++other) {
                    if (other != rank) bytes.push_back(ranks_.bytes(rank, other));
                }
                std::ranges::sort(bytes, std::greater<>{});
                std::int64_t* const ahead = ahead_.data() + (depth * count + rank) * slots_;
                for (std::size_t slot = 0; slot < slots_; ++slot) {
                    for (std::size_t i = 0; i < bytes.size(); ++i)
                        ahead[slot] += bytes[i] * nearest[slot * (count - 1) + i];
                }
            }
        }
    }
    [[nodiscard]] std::span<const std::int64_t> ahead(std::size_t depth, std::size_t rank) const {
        return std::span(ahead_).subspan((depth * ranks_.count() + rank) * slots_, slots_);
    }

    void place_remaining(std::size_t depth, std::int64_t value) {
        if (depth == ranks_.count()) {
            best_value_ = value;
            best_ = at_;
            return;
        }
        std::int64_t least = value;  // without the next rank
        for (std::size_t rank = depth + 1; rank < ranks_.count(); ++rank) least += bound_rank(depth, rank);
        for (const auto& [bound, slot] : list_candidates(depth, least)) {
            if (bound >= best_value_) return;
            stopped_ = stopped_ || !meter_.spend(1 + (ranks_.count() - depth) * slots_ / 100);
            if (stopped_) return;
            is_used_[slot] = 1;
            at_[depth] = slot;
            for (std::size_t rank = depth + 1; rank < ranks_.count(); ++rank) add_messages(depth, rank, slot);
            place_remaining(depth + 1, value + costs(depth, depth)[slot]);
            is_used_[slot] = 0;
        }
    }
    [[nodiscard]] std::int64_t bound_rank(std::size_t depth, std::size_t rank) {
        const std::span<const std::int64_t> cost = costs(depth, rank);
        const std::span<const std::int64_t> more = ahead(depth, rank);
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            if (is_used_[slot] == 0) least = std::min(least, cost[slot] + more[slot]);
        }
        return least;
    }
    struct Candidate {
        std::int64_t bound;
        std::size_t slot;
    };
    /// The free slots on which the next rank can improve on the best placement, best first, without those that
    /// are equivalent to others.
    [[nodiscard]] std::vector<Candidate> list_candidates(std::size_t depth, std::int64_t least) {
        std::vector<Candidate> candidates;
        const std::span<const std::int64_t> cost = costs(depth, depth);
        const std::span<const std::int64_t> more = ahead(depth, depth);
        std::vector<char> has_twin(slots_, 0);
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            if (is_used_[slot] != 0 || has_twin[twins_[slot]] != 0) continue;
            if (depth == 0 && orbits_[slot].value != slot) continue;
            has_twin[twins_[slot]] = 1;
            const std::int64_t bound = least + cost[slot] + more[slot];
            if (bound < best_value_) candidates.push_back({bound, slot});
        }
        std::ranges::stable_sort(candidates, {}, &Candidate::bound);
        return candidates;
    }
    /// Adds the messages between a rank and the one placed at this depth.
    void add_messages(std::size_t depth, std::size_t rank, std::size_t slot) {
        const std::int64_t bytes = 2 * ranks_.bytes(depth, rank);
        const std::span<const std::int64_t> distance = distances_.row(slot);
        const std::span<const std::int64_t> before = costs(depth, rank);
        const std::span<std::int64_t> after = costs(depth + 1, rank);
        for (std::size_t s = 0; s < slots_; ++s) after[s] = before[s] + bytes * distance[s];
    }

    const OrderedRanks& ranks_;
    const SlotDistances& distances_;
    Meter& meter_;
    std::size_t slots_;
    std::vector<std::size_t> twins_;
    std::vector<Position> orbits_;
    std::vector<std::int64_t> cost_;   // [depth][rank][slot]: messages to ranks placed before
    std::vector<std::int64_t> ahead_;  // likewise: a bound on half of the messages to unplaced ranks
    std::vector<char> is_used_;        // by slot
    std::vector<std::size_t> at_;      // by order of ranks, like the next one
    std::vector<std::size_t> best_;
    std::int64_t best_value_ = 0;
    bool stopped_ = false;
};

}  // namespace

bool has_few_ranks(const Problem& problem) {
    constexpr double max_value = 0x1p60;
    const double most =
        static_cast<double>(problem.graph().total_bytes().value) * problem.machine().max_distance();
    return problem.is_for_hop_bytes() && problem.capacity().one_rank_per_slot() &&
           problem.migration() == nullptr && problem.rank_count() > 1 && problem.rank_count() <= max_ranks &&
           problem.allocation().slot_count() <= max_slots && most < max_value;
}

EnumerationResult search_few_ranks(const Problem& problem, const Placement& start, Meter& meter) {
    const SlotDistances distances(problem.allocation());
    if (!distances.are_symmetric()) return {start, false};
    const OrderedRanks ranks(problem.graph());
    FewRanksSearch search(ranks, distances, meter);
    const bool is_optimal = search.run(problem.value(start.slots()));
    if (search.best().empty()) return {start, is_optimal};
    std::vector<Position> positions(ranks.count());
    for (std::size_t i = 0; i < ranks.count(); ++i) positions[ranks.rank(i)] = Position{search.best()[i]};
    return {placement_at(problem.allocation(), positions), is_optimal};
}

}  // namespace topoloom::dense
