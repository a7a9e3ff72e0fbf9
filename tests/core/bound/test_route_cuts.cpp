// SPDX-License-Identifier: BSD-3-Clause
// What routes can carry, and the bound on congestion that follows for parts of an allocation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bound/bound_cases.hpp"
#include "topoloom/bound/congestion_bound.hpp"
#include "topoloom/bound/routes/node_clusters.hpp"
#include "topoloom/bound/routes/route_capacity.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/pattern/generators/stencil.hpp"

using namespace topoloom;

namespace {

bool is_within_one_percent(double least, double most) { return most <= 1.01 * least; }

/// The nodes of a part, and the other nodes of the allocation.
std::pair<std::vector<Node>, std::vector<Node>> split_nodes(const Allocation& allocation,
                                                            std::size_t inside) {
    const std::span<const Node> nodes = allocation.nodes();
    return {{nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(inside)},
            {nodes.begin() + static_cast<std::ptrdiff_t>(inside), nodes.end()}};
}

/// Seconds of the busiest link if every pair gets the traffic of its entry.
double find_busiest_link(const NetworkView& network, std::span<const Node> sources,
                         std::span<const Node> targets, std::span<const double> traffic) {
    std::map<std::uint32_t, double> seconds;
    for (std::size_t a = 0; a < sources.size(); ++a) {
        for (std::size_t b = 0; b < targets.size(); ++b) {
            network.route(sources[a], targets[b], [&](Link link, double share) {
                seconds[static_cast<std::uint32_t>(link.value)] +=
                    traffic[a * targets.size() + b] * share / network.bandwidth(link).value;
            });
        }
    }
    double most = 0;
    for (const auto& [link, load] : seconds) most = std::max(most, load);
    return most;
}

}  // namespace

TEST_CASE("no traffic between two parts exceeds the rate that their routes can carry") {
    for_each_bound_case(12, [](const CommGraph&, const Allocation& allocation, Rng& rng) {
        const NetworkView network(allocation.machine().topology());
        if (network.is_adaptive() || allocation.nodes().size() < 2) return;
        const std::size_t split = 1 + rng.below(static_cast<std::uint32_t>(allocation.nodes().size() - 1));
        const auto [sources, targets] = split_nodes(allocation, split);
        Meter meter{Budget{}};
        const double rate =
            bound::RouteCapacity(network).bound_rate(sources, targets, is_within_one_percent, meter);
        for (int i = 0; i < 5; ++i) {
            std::vector<double> traffic(sources.size() * targets.size());
            double total = 0;
            for (double& bytes : traffic) total += bytes = rng.below(3) == 0 ? rng.below(100) : 0;
            const double busiest = find_busiest_link(network, sources, targets, traffic);
            CHECK(total <= rate * busiest * (1 + 1e-9));
        }
    });
}

TEST_CASE("routes carry as much as the links that separate two parts of a line, a plane and a tree") {
    const auto rate = [](const std::string& text, std::size_t inside) {
        const Machine machine = make_machine(text);
        const Allocation allocation = Allocation::whole(machine);
        const auto [sources, targets] = split_nodes(allocation, inside);
        const NetworkView network(machine.topology());
        Meter meter{Budget{}};
        const double found =
            bound::RouteCapacity(network).bound_rate(sources, targets, is_within_one_percent, meter);
        return found / network.bandwidth(Link{0}).value;
    };
    CHECK(rate("mesh:8", 3) == doctest::Approx(1).epsilon(0.01));
    CHECK(rate("torus:8", 4) == doctest::Approx(2).epsilon(0.01));
    CHECK(rate("mesh:4x5", 10) == doctest::Approx(5).epsilon(0.01));
    CHECK(rate("tree:4:4", 4) == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("near parts are nested or disjoint, and lie at least as far apart as their nodes") {
    for_each_bound_case(20, [](const CommGraph&, const Allocation& allocation, Rng&) {
        std::vector<std::set<std::uint32_t>> parts;
        for (const bound::NodePart& part : bound::list_node_clusters(allocation)) {
            CHECK(std::ranges::is_sorted(part));
            CHECK(part.size() >= 2);
            CHECK(part.size() < allocation.nodes().size());
            parts.emplace_back(part.begin(), part.end());
        }
        for (const auto& a : parts) {
            for (const auto& b : parts) {
                const auto common = std::ranges::count_if(a, [&](std::uint32_t n) { return b.contains(n); });
                CHECK((common == 0 || static_cast<std::size_t>(common) == std::min(a.size(), b.size())));
            }
        }
    });
}

TEST_CASE("fragments far apart exchange their bytes over the lines that dimension order leaves them") {
    const Machine machine = make_machine("torus:64x48x48");
    const Allocation allocation = fragmented_allocation(machine, 64, 2, 1);
    const CommGraph graph = stencil(std::vector<GridAxis>(3, {4, true}), StencilShape::star, Bytes{1000});
    const BoundProblem problem(graph, allocation);
    Meter meter{Budget{}};
    const bound::RouteSurvey survey = bound::survey_routes(allocation, meter);
    const CongestionBound routes = route_cut_bound(problem, survey, meter);
    CHECK(routes.by == "routes");
    CHECK(routes.value > 1.5 * cut_bound(problem, meter).value);
}

TEST_CASE("a small budget leaves out proofs but not the validity of bounds") {
    const Machine machine = make_machine("torus:8x8x8");
    const Allocation allocation = fragmented_allocation(machine, 64, 4, 1);
    const CommGraph graph = stencil(std::vector<GridAxis>(3, {4, true}), StencilShape::star, Bytes{1000});
    Rng rng(1);
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 20; ++i) {
        const Placement placement = random_placement(allocation, graph.rank_count(), rng);
        least = std::min(least, judge(graph, machine, placement, 1).congestion_max);
    }
    double before = 0;
    for (const std::uint64_t work : {0U, 1'000U, 100'000U, 10'000'000U}) {
        Meter meter{Budget{.work = work}};
        const CongestionBound bound = congestion_bound(BoundProblem(graph, allocation), meter);
        CHECK(bound.value <= least);
        CHECK(bound.value >= before * 0.999);
        CHECK(meter.work_done() <= work + work / 2 + 100'000);
        before = bound.value;
    }
}
