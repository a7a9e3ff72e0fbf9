// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/allocations/compact_nodes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>

#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/machine/geometry/pointwise_distance_sum.hpp"

namespace topoloom {

namespace {

using Members = std::vector<std::uint32_t>;  // indices of nodes in the allocation

/// Maximum numbers of distances to compute; each takes about a nanosecond.
constexpr std::uint64_t center_work = 1U << 24;
constexpr std::uint64_t search_work = 1U << 28;

/// Returns, in ascending order, the indices of the `count` smallest keys; of equal keys, prefers the lower
/// index.
Members find_smallest(const std::vector<std::uint64_t>& keys, std::size_t count) {
    Members all(keys.size());
    std::iota(all.begin(), all.end(), 0U);
    const auto nth = all.begin() + static_cast<std::ptrdiff_t>(count);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
    };
    if (nth != all.end()) std::nth_element(all.begin(), nth, all.end(), before);
    all.resize(count);
    std::ranges::sort(all);
    return all;
}

template <Geometry G>
class CompactSearch {
   public:
    using Point = typename G::Point;

    CompactSearch(const G& geometry, std::vector<Point> points, std::size_t count)
        : geometry_(geometry), points_(std::move(points)), count_(count), reached_(points_.size(), 0) {}

    Members run(Rng rng) {
        for (const std::uint32_t center : choose_centers()) {
            if (work_ > search_work) break;
            if (reached_[center]) continue;
            Members found = contract_members(find_nearest(center));
            for (const std::uint32_t i : found) reached_[i] = 1;
            record_if_better(exchange_members(std::move(found)));
            for (int i = 0; count_ <= small_count && i < 8 && work_ <= search_work; ++i) {
                record_if_better(exchange_members(grow_from(center, rng)));
            }
            if (++starts_ == max_starts) break;
        }
        return best_;
    }

   private:
    static constexpr std::size_t small_count = 256;
    static constexpr int max_starts = 8;
    /// Whether DistanceSum adds the distances one by one, and therefore saves no work.
    static constexpr bool sums_pointwise = std::is_same_v<typename G::DistanceSum, PointwiseDistanceSum<G>>;

    [[nodiscard]] std::uint64_t distance(std::uint32_t i, std::uint32_t j) const {
        return geometry_.distance(points_[i], points_[j]);
    }

    [[nodiscard]] std::vector<std::uint64_t> distances_from(std::uint32_t center) const {
        std::vector<std::uint64_t> keys(points_.size());
        for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = distance(center, i);
        return keys;
    }
    [[nodiscard]] Members find_nearest(std::uint32_t center) const {
        return find_smallest(distances_from(center), count_);
    }

    /// Returns centers, sorted by the sum of distances to their nearest `count` nodes. If there are too many
    /// nodes, considers an even sample.
    [[nodiscard]] Members choose_centers() const {
        const std::size_t considered =
            std::clamp<std::size_t>(center_work / points_.size(), 16, points_.size() + 16);
        const std::size_t step = (points_.size() + considered - 1) / considered;
        std::vector<std::pair<std::uint64_t, std::uint32_t>> rated;
        for (std::size_t i = 0; i < points_.size(); i += step) {
            const auto center = static_cast<std::uint32_t>(i);
            std::vector<std::uint64_t> keys = distances_from(center);
            const auto nth = keys.begin() + static_cast<std::ptrdiff_t>(count_);
            if (nth != keys.end()) std::nth_element(keys.begin(), nth, keys.end());
            rated.emplace_back(std::accumulate(keys.begin(), nth, std::uint64_t{0}), center);
        }
        std::ranges::sort(rated);
        Members centers;
        for (const auto& [radius, center] : rated) centers.push_back(center);
        return centers;
    }

    /// For each node, returns the sum of distances to the members.
    [[nodiscard]] std::vector<std::uint64_t> sum_distances(const Members& members) {
        std::vector<Point> points;
        for (const std::uint32_t i : members) points.push_back(points_[i]);
        const std::vector<std::uint64_t> ones(points.size(), 1);
        const typename G::DistanceSum sum(geometry_, points, ones);
        std::vector<std::uint64_t> sums(points_.size());
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sum.at(points_[i]);
        work_ += points_.size() * (sums_pointwise ? members.size() : 8);
        return sums;
    }
    [[nodiscard]] static std::uint64_t sum_pair_distances(const Members& members,
                                                          const std::vector<std::uint64_t>& totals) {
        std::uint64_t sum = 0;
        for (const std::uint32_t i : members) sum += totals[i];
        return sum;
    }

    /// Repeatedly replaces the members by the `count` nodes with the smallest sum of distances to all
    /// members, until the total no longer decreases.
    [[nodiscard]] Members contract_members(Members members) {
        std::vector<std::uint64_t> sums = sum_distances(members);
        for (std::uint64_t now = sum_pair_distances(members, sums); work_ <= search_work;) {
            Members next = find_smallest(sums, count_);
            if (next == members) break;
            std::vector<std::uint64_t> next_sums = sum_distances(next);
            const std::uint64_t then = sum_pair_distances(next, next_sums);
            if (then >= now) break;
            now = then;
            members = std::move(next);
            sums = std::move(next_sums);
        }
        return members;
    }

    /// Starts with the center, then repeatedly adds the node nearest to the members. Breaks ties randomly.
    [[nodiscard]] Members grow_from(std::uint32_t center, Rng& rng) {
        const Members near = find_smallest(distances_from(center), std::min(points_.size(), 4 * count_ + 16));
        std::vector<std::uint64_t> sums(near.size(), 0);
        std::vector<char> taken(near.size(), 0);
        auto next = static_cast<std::size_t>(std::ranges::find(near, center) - near.begin());
        Members members;
        while (true) {
            members.push_back(near[next]);
            taken[next] = 1;
            if (members.size() == count_) break;
            std::uint64_t min_sum = std::numeric_limits<std::uint64_t>::max();
            std::uint32_t equals = 0;
            const std::uint32_t last = members.back();
            for (std::size_t i = 0; i < near.size(); ++i) {
                sums[i] += distance(near[i], last);
                if (taken[i] || sums[i] > min_sum) continue;
                equals = sums[i] == min_sum ? equals + 1 : 1;
                min_sum = sums[i];
                if (rng.below(equals) == 0) next = i;
            }
        }
        work_ += near.size() * count_;
        std::ranges::sort(members);
        return members;
    }

    /// Repeatedly makes the exchange of a member for another node that decreases the sum most, until no
    /// exchange decreases it.
    [[nodiscard]] Members exchange_members(Members members) {
        constexpr std::size_t considered = 64;
        std::vector<std::uint64_t> sums = sum_distances(members);
        std::vector<char> inside(points_.size(), 0);
        for (const std::uint32_t i : members) inside[i] = 1;
        Members others;
        for (std::uint32_t i = 0; i < inside.size(); ++i) {
            if (!inside[i]) others.push_back(i);
        }
        const std::size_t in = std::min(considered, members.size());
        const std::size_t out = std::min(considered, others.size());
        while (out > 0 && work_ <= search_work) {
            std::partial_sort(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(in),
                              members.end(), [&](std::uint32_t a, std::uint32_t b) {
                                  return sums[a] != sums[b] ? sums[a] > sums[b] : a < b;
                              });
            std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(out), others.end(),
                              [&](std::uint32_t a, std::uint32_t b) {
                                  return sums[a] != sums[b] ? sums[a] < sums[b] : a < b;
                              });
            std::int64_t best_gain = 0;
            std::size_t leaving = 0;
            std::size_t entering = 0;
            for (std::size_t i = 0; i < in; ++i) {
                for (std::size_t j = 0; j < out; ++j) {
                    const auto gain = static_cast<std::int64_t>(sums[members[i]] - sums[others[j]] +
                                                                distance(members[i], others[j]));
                    if (gain <= best_gain) continue;
                    best_gain = gain;
                    leaving = i;
                    entering = j;
                }
            }
            work_ += 4 * points_.size() + in * out;
            if (best_gain == 0) break;
            std::swap(members[leaving], others[entering]);
            for (std::uint32_t i = 0; i < sums.size(); ++i)
                sums[i] += distance(i, members[leaving]) - distance(i, others[entering]);
        }
        std::ranges::sort(members);
        return members;
    }

    void record_if_better(Members members) {
        const std::uint64_t value = sum_pair_distances(members, sum_distances(members));
        if (!best_.empty() && value >= best_value_) return;
        best_ = std::move(members);
        best_value_ = value;
    }

    const G& geometry_;
    std::vector<Point> points_;
    std::size_t count_;
    std::vector<char> reached_;  // 1 if an earlier result contains the node
    std::uint64_t work_ = 0;
    int starts_ = 0;
    Members best_;
    std::uint64_t best_value_ = 0;
};

}  // namespace

std::vector<Node> compact_nodes(const Allocation& allocation, std::size_t count, std::uint64_t seed) {
    const std::span<const Node> nodes = allocation.nodes();
    if (count == 0 || count > nodes.size()) {
        fail("cannot choose ", count, " of ", nodes.size(), " nodes; ask for 1 to ", nodes.size());
    }
    const Members chosen = with_geometry(allocation.machine(), [&]<class G>(const G& geometry) {
        std::vector<typename G::Point> points;
        for (const Node node : nodes) points.push_back(geometry.point(node));
        return CompactSearch<G>(geometry, std::move(points), count).run(Rng(seed));
    });
    std::vector<Node> result;
    for (const std::uint32_t i : chosen) result.push_back(nodes[i]);
    return result;
}

}  // namespace topoloom
