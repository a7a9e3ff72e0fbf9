// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "topoloom/base/step_budget.hpp"
#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/bound/network_graph.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom {

namespace {

constexpr std::uint64_t max_neighbor_visits = 100'000'000;  // limit per kind of part; about one second

class CutSearch {
   public:
    CutSearch(const BoundProblem& problem, Meter& meter)
        : problem_(problem),
          graph_(problem),
          least_(problem.min_leaving_bytes()),
          part_(graph_),
          meter_(meter) {
        restart_budget();
    }

    /// Tries ranges of consecutive nodes whose length divides the number of nodes: subtrees, groups, rows and
    /// planes.
    void try_ranges() {
        const auto nodes = static_cast<std::uint32_t>(problem_.machine().node_count());
        for (std::uint32_t count = 1; count < nodes; ++count) {
            if (nodes % count != 0) continue;
            for (std::uint32_t first = 0; first < nodes; first += count) {
                part_.clear();
                for (std::uint32_t node = first; node < first + count; ++node) add(graph_.vertex(Node{node}));
                if (part_.capacity() == 0) continue;
                evaluate_cut([&] { return "nodes " + range(first, first + count - 1); });
                part_.add_switches();
                evaluate_cut([&] { return "nodes " + range(first, first + count - 1); });
            }
            if (is_budget_spent()) break;
        }
        restart_budget();
    }

    /// Tries slabs that start at every position of every axis; they wrap around on a ring.
    void try_slabs() {
        const Machine& machine = problem_.machine();
        if (!machine.has_grid()) return;
        const std::vector<std::uint32_t> grid = machine.grid();
        for (std::uint32_t axis = 0; axis < grid.size() && !is_budget_spent(); ++axis) {
            const std::uint32_t extent = grid[axis];
            std::vector<std::vector<std::uint32_t>> planes(extent);
            for (const Node node : ids<Node>(machine.node_count()))
                planes[machine.coordinates(node)[axis]].push_back(graph_.vertex(node));
            for (std::uint32_t first = 0; first < extent && !is_budget_spent(); ++first) {
                part_.clear();
                for (std::uint32_t length = 1; length < extent; ++length) {
                    const std::uint32_t last = (first + length - 1) % extent;
                    for (const std::uint32_t vertex : planes[last]) add(vertex);
                    evaluate_cut([&] {
                        return "positions " + range(first, last) + " of axis " + std::to_string(axis);
                    });
                }
            }
        }
        restart_budget();
    }

    /// Grows a region around every node: always adds the vertex with the most bandwidth to the region, on
    /// ties the nearest.
    void try_grown_parts() {
        const std::size_t vertices = graph_.vertex_count();
        std::vector<std::uint32_t> starts;
        for (const Node node : problem_.allocation().nodes()) starts.push_back(graph_.vertex(node));
        // This stride visits all nodes, with successive ones far apart, in case the budget ends early.
        std::size_t stride = starts.size() * 5 / 8 + 1;
        while (std::gcd(stride, starts.size()) != 1) ++stride;
        for (std::size_t i = 0; i < starts.size() && !is_budget_spent(); ++i)
            grow(starts[i * stride % starts.size()], vertices);
        restart_budget();
    }

    CongestionBound best() && { return std::move(best_); }

   private:
    static std::string range(std::uint32_t first, std::uint32_t last) {
        return std::to_string(first) + (first == last ? "" : ".." + std::to_string(last));
    }
    void add(std::uint32_t vertex) {
        if (!part_.contains_vertex(vertex)) part_.add(vertex);
    }
    [[nodiscard]] bool is_budget_spent() { return part_.visits() + steps_ > end_ || !meter_.poll_clock(); }
    /// Allows for another kind of part a half of the remaining budget.
    void restart_budget() {
        const std::uint64_t now = part_.visits() + steps_;
        meter_.spend(now - std::exchange(charged_, now));
        end_ = now + (meter_.poll() ? std::min(max_neighbor_visits, meter_.remaining().work / 2) : 0);
    }

    template <class Name>
    void evaluate_cut(const Name& name) {
        const std::int64_t bytes = least_[part_.capacity()];
        const double bandwidth = part_.bandwidth();
        if (bytes == 0 || bandwidth == 0) return;
        const double value = static_cast<double>(bytes) / bandwidth * rounding_margin;
        if (value > best_.value) best_ = {value, "cut", name()};
    }

    void grow(std::uint32_t start, std::size_t vertices) {
        struct Candidate {
            std::uint32_t vertex;
            std::int64_t joined;
            std::uint32_t far;
        };
        std::vector<Candidate> candidates;
        std::vector<std::uint32_t> place(vertices, std::numeric_limits<std::uint32_t>::max());
        part_.clear();
        const auto take = [&](std::uint32_t vertex, std::uint32_t far) {
            part_.add(vertex);
            for (const NetworkGraph::Neighbor& near : graph_.neighbors(vertex)) {
                if (part_.contains_vertex(near.vertex)) continue;
                if (place[near.vertex] >= candidates.size() ||
                    candidates[place[near.vertex]].vertex != near.vertex) {
                    place[near.vertex] = static_cast<std::uint32_t>(candidates.size());
                    candidates.push_back({near.vertex, 0, far + 1});
                }
                Candidate& candidate = candidates[place[near.vertex]];
                candidate.joined += near.out + near.in;
                candidate.far = std::min(candidate.far, far + 1);
            }
        };
        take(start, 0);
        while (part_.capacity() * 2 <= problem_.total_capacity() && !is_budget_spent()) {
            evaluate_cut([&] {
                return std::to_string(part_.members().size()) + " vertices around " + std::to_string(start);
            });
            if (candidates.empty()) break;
            steps_ += candidates.size();
            const auto better = [](const Candidate& a, const Candidate& b) {
                return std::tuple(-a.joined, a.far, a.vertex) < std::tuple(-b.joined, b.far, b.vertex);
            };
            const auto found = std::ranges::min_element(candidates, better);
            const Candidate next = *found;
            *found = candidates.back();
            place[found->vertex] = static_cast<std::uint32_t>(found - candidates.begin());
            candidates.pop_back();
            take(next.vertex, next.far);
        }
    }

    const BoundProblem& problem_;
    NetworkGraph graph_;
    std::span<const std::int64_t> least_;
    NetworkCut part_;
    std::uint64_t steps_ = 0;
    std::uint64_t charged_ = 0;
    std::uint64_t end_ = 0;
    Meter& meter_;
    CongestionBound best_;
};

}  // namespace

CongestionBound cut_bound(const BoundProblem& problem, Meter& meter) {
    // Every cut has a side with room for all ranks, so none gives a bound.
    if (problem.total_capacity() / 2 >= problem.rank_count()) return {};
    constexpr double work_per_link = 16;  // to build and sort the graph
    const NetworkView network(problem.machine().topology());
    if (!spend_step(meter, work_per_link * static_cast<double>(network.link_count()))) return {};
    Meter share(meter.sub_budget(0.3));
    CutSearch search(problem, share);
    search.try_ranges();
    search.try_slabs();
    search.try_grown_parts();
    meter.spend(share.work_done());
    return std::move(search).best();
}

}  // namespace topoloom
