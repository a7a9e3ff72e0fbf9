// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/bound/hop_bytes_cut_bound.hpp"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "topoloom/machine/machine.hpp"

namespace topoloom::bound {

namespace {

/// A sum over cuts. Weights are doubled, so that those of odd rings are integers.
class CutFamily {
   public:
    explicit CutFamily(const BoundProblem& problem) : least_(problem.min_leaving_bytes()) {}

    void add(std::uint64_t capacity, std::int64_t doubled_weight) {
        sum_ += doubled_weight * least_[capacity];
    }
    [[nodiscard]] std::int64_t bound() const { return (sum_ + 1) / 2; }

   private:
    std::span<const std::int64_t> least_;
    std::int64_t sum_ = 0;
};

/// Rank capacity of each group of `size` consecutive slots of the machine; only groups with capacity.
std::vector<std::uint64_t> capacities_of_groups(const BoundProblem& problem, std::uint64_t size) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> slots;  // group, capacity
    const auto positions = problem.allocation().slots();
    for (std::size_t i = 0; i < positions.size(); ++i)
        slots.emplace_back(positions[i].value / size, problem.capacity()[i]);
    std::ranges::sort(slots);
    std::vector<std::uint64_t> capacities;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (i == 0 || slots[i - 1].first != slots[i].first) capacities.push_back(0);
        capacities.back() += slots[i].second;
    }
    return capacities;
}

/// Adds the cuts of one axis; `capacity` by position.
void add_axis(CutFamily& cuts, std::span<const std::uint64_t> capacity, bool is_ring,
              std::int64_t hop_weight) {
    const std::size_t extent = capacity.size();
    if (!is_ring) {
        std::uint64_t before = 0;
        for (std::size_t i = 0; i + 1 < extent; ++i) cuts.add(before += capacity[i], 2 * hop_weight);
        return;
    }
    const std::size_t half = extent / 2;
    const std::size_t count = extent % 2 == 0 ? half : extent;
    std::uint64_t inside = 0;
    for (std::size_t i = 0; i < half; ++i) inside += capacity[i];
    for (std::size_t first = 0; first < count; ++first) {
        cuts.add(inside, hop_weight * (extent % 2 == 0 ? 2 : 1));
        inside += capacity[(first + half) % extent];
        inside -= capacity[first];
    }
}

template <class T>
std::int64_t sum_network_cuts(const BoundProblem& problem, const T& torus) {
    const NodeSpec& node_spec = problem.machine().node_spec();
    CutFamily cuts(problem);
    const auto positions = problem.allocation().slots();
    for (std::uint32_t axis = 0; axis < torus.axis_count(); ++axis) {
        std::vector<std::uint64_t> capacity(torus.grid()[axis], 0);
        for (std::size_t i = 0; i < positions.size(); ++i) {
            const auto point = torus.point(problem.machine().node(positions[i]));
            capacity[static_cast<std::size_t>(point.at[axis])] += problem.capacity()[i];
        }
        add_axis(cuts, capacity, torus.wraps(axis), node_spec.hop_weight);
    }
    if (const std::uint32_t port = node_spec.min_port_distance(); port > 0) {
        for (const std::uint64_t capacity : capacities_of_groups(problem, node_spec.levels.size()))
            cuts.add(capacity, 2 * std::int64_t{port});
    }
    return cuts.bound();
}

/// Groups of `size` consecutive slots; slots of different groups are at least `distance` apart.
struct Level {
    std::uint64_t size;
    std::int64_t distance;
};

std::vector<Level> levels_of_node(const NodeSpec& node_spec) {
    std::vector<Level> levels;
    std::uint64_t size = 1;
    for (std::uint32_t j = 0; j < node_spec.levels.count(); ++j) {
        levels.push_back({size, node_spec.levels.distances()[j]});
        size *= node_spec.levels.arity()[j];
    }
    return levels;
}

template <class G>
std::vector<Level> levels_of_machine(const BoundProblem& problem, const G& geometry) {
    const NodeSpec& node_spec = problem.machine().node_spec();
    std::vector<Level> levels = levels_of_node(node_spec);
    const std::int64_t ports = 2 * std::int64_t{node_spec.min_port_distance()};
    if constexpr (std::is_same_v<G, Tree>) {
        const TreeSpec& spec = geometry.spec();
        std::uint64_t size = node_spec.levels.size();
        for (std::size_t j = 0; j < spec.arity.size(); ++j) {
            const std::uint64_t hops = spec.distance.empty() ? 2 * (j + 1) : spec.distance[j];
            levels.push_back({size, static_cast<std::int64_t>(hops * node_spec.hop_weight) + ports});
            size *= spec.arity[j];
        }
    } else {
        bool shares_routers = false;
        if constexpr (std::is_same_v<G, HopTable>) {
            shares_routers = geometry.nodes_share_routers();
        } else {
            shares_routers = geometry.vertex_count() != problem.machine().node_count();
        }
        levels.push_back(
            {node_spec.levels.size(), ports + (shares_routers ? 0 : std::int64_t{node_spec.hop_weight})});
    }
    return levels;
}

std::int64_t sum_level_cuts(const BoundProblem& problem, std::vector<Level> levels) {
    for (std::size_t j = levels.size() - 1; j-- > 0;)
        levels[j].distance = std::min(levels[j].distance, levels[j + 1].distance);
    CutFamily cuts(problem);
    std::int64_t below = 0;
    for (const Level& level : levels) {
        if (level.distance > below) {
            for (const std::uint64_t capacity : capacities_of_groups(problem, level.size))
                cuts.add(capacity, level.distance - below);
        }
        below = level.distance;
    }
    return cuts.bound();
}

}  // namespace

std::int64_t cut_sum_bound(const BoundProblem& problem) {
    return with_geometry(problem.machine(), [&]<class G>(const G& geometry) {
        std::int64_t best = sum_level_cuts(problem, levels_of_machine(problem, geometry));
        if constexpr (requires { geometry.axis_count(); })
            best = std::max(best, sum_network_cuts(problem, geometry));
        return best;
    });
}

}  // namespace topoloom::bound
