// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/bound/routes/grid_slabs.hpp"
#include "topoloom/bound/routes/node_clusters.hpp"
#include "topoloom/bound/routes/route_capacity.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

/// The most bytes by which any ranks together send more than they receive, or receive more than they send.
std::int64_t find_imbalance(const CommGraph& graph) {
    std::vector<std::int64_t> surplus(graph.rank_count(), 0);
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            surplus[u.value] += edge.bytes.value;
            surplus[edge.peer.value] -= edge.bytes.value;
        }
    }
    std::int64_t sum = 0;
    for (const std::int64_t bytes : surplus) sum += std::max<std::int64_t>(0, bytes);
    return sum;
}

class RouteCutSearch {
   public:
    /// `unit`: see load_unit().
    RouteCutSearch(const BoundProblem& problem, double unit, Meter& meter)
        : allocation_(problem.allocation()),
          nodes_(problem.allocation().nodes()),
          capacity_(nodes_.size(), 0),
          least_(problem.min_leaving_bytes()),
          imbalance_(find_imbalance(problem.graph())),
          network_(problem.machine().topology()),
          routes_(network_),
          unit_(unit),
          meter_(meter) {
        for (std::size_t s = 0; s < problem.capacity().size(); ++s)
            capacity_[problem.allocation().node_of_slot()[s]] += problem.capacity()[s];
    }

    /// Tries fragments, groups, and clusters of these.
    void try_node_clusters() {
        for (const bound::NodePart& part : bound::list_node_clusters(allocation_)) {
            if (!meter_.poll()) break;
            try_part(part, std::to_string(part.size()) + " nodes around " +
                               std::to_string(nodes_[part.front()].value));
        }
    }

    /// Tries the slabs to which few lines lead in comparison with the bytes that must cross. Under
    /// dimension-order routing, these are the links along the axis on which routes end or begin.
    void try_slabs() {
        constexpr std::size_t max_slabs = 24;
        std::vector<bound::Slab> slabs = find_narrow_slabs();
        const auto order = [&](const bound::Slab& slab) {
            return std::tuple(-seconds_per_line(slab), slab.axis, slab.first);
        };
        std::ranges::sort(slabs, {}, order);
        slabs.resize(std::min(slabs.size(), max_slabs));
        for (const bound::Slab& slab : slabs) {
            if (!meter_.poll()) break;
            try_part(bound::nodes_of_slab(allocation_, slab), "positions " + std::to_string(slab.first) +
                                                                  ".." + std::to_string(slab.last) +
                                                                  " of axis " + std::to_string(slab.axis));
        }
    }

    CongestionBound best() && { return std::move(best_); }

   private:
    [[nodiscard]] double seconds_per_line(const bound::Slab& slab) const {
        return static_cast<double>(least_[slab.capacity]) / static_cast<double>(slab.lines);
    }

    /// For each first position of each axis, the slab with the most bytes per line.
    [[nodiscard]] std::vector<bound::Slab> find_narrow_slabs() const {
        std::vector<bound::Slab> narrow;
        for (const bound::Slab& slab : bound::list_slabs(allocation_, capacity_)) {
            if (narrow.empty() || narrow.back().axis != slab.axis || narrow.back().first != slab.first) {
                narrow.push_back(slab);
            } else if (seconds_per_line(slab) > seconds_per_line(narrow.back())) {
                narrow.back() = slab;
            }
        }
        return narrow;
    }

    void try_part(const bound::NodePart& part, const std::string& name) {
        std::vector<Node> inside;
        std::vector<Node> outside;
        std::uint64_t capacity = 0;
        for (std::uint32_t n = 0, next = 0; n < nodes_.size(); ++n) {
            if (next < part.size() && part[next] == n) {
                ++next;
                inside.push_back(nodes_[n]);
                capacity += capacity_[n];
            } else {
                outside.push_back(nodes_[n]);
            }
        }
        // Bytes in one direction; in both directions they add up to the cut.
        const std::int64_t bytes = (least_[capacity] - imbalance_ + 1) / 2;
        if (bytes <= 0) return;
        raise(bytes, inside, outside, name);
        raise(bytes, outside, inside, name);
    }

    void raise(std::int64_t bytes, std::span<const Node> sources, std::span<const Node> targets,
               const std::string& name) {
        constexpr double accuracy = 1.02;
        const auto seconds = [&](double rate) { return static_cast<double>(bytes) / rate * rounding_margin; };
        // The bound is rounded up to the unit of loads in the end.
        const auto round_up = [&](double value) {
            return unit_ == 0 ? value : std::ceil(value / unit_ * rounding_margin) * unit_;
        };
        const auto is_settled = [&](double least, double most) {
            const double possible = round_up(seconds(least));
            return possible <= round_up(best_.value) || possible <= accuracy * round_up(seconds(most));
        };
        const double value = seconds(routes_.bound_rate(sources, targets, is_settled, meter_));
        if (value <= best_.value) return;
        best_ = {value, "routes", name};
    }

    const Allocation& allocation_;
    std::span<const Node> nodes_;
    std::vector<std::uint64_t> capacity_;  // by node of the allocation
    std::span<const std::int64_t> least_;
    std::int64_t imbalance_;
    NetworkView network_;
    bound::RouteCapacity routes_;
    double unit_;
    Meter& meter_;
    CongestionBound best_;
};

}  // namespace

CongestionBound route_cut_bound(const BoundProblem& problem, const bound::RouteSurvey& survey, Meter& meter) {
    // Every part or its complement has room for all ranks, so no part gives a bound.
    if (!survey.is_known || problem.total_capacity() / 2 >= problem.rank_count()) return {};
    Budget limits = meter.sub_budget(0.5);
    constexpr std::uint64_t max_work = std::uint64_t{1} << 28;  // a few seconds
    limits.work = std::min(limits.work, max_work);
    Meter share(limits);
    RouteCutSearch search(problem, load_unit(problem, survey), share);
    search.try_slabs();
    search.try_node_clusters();
    meter.spend(share.work_done());
    return std::move(search).best();
}

}  // namespace topoloom
