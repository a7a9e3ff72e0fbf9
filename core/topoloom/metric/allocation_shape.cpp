// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/allocation_shape.hpp"

#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/machine/allocations/territory.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/route_loads.hpp"

namespace topoloom {

double average_distance(const Allocation& allocation) {
    const std::size_t count = allocation.nodes().size();
    if (count < 2) return 0;
    const double to_routers =
        2 * with_topology(allocation.machine(), [](const auto& t) { return host_hops(t); });
    return with_geometry(allocation.machine(), [&]<class G>(const G& geometry) {
        std::vector<typename G::Point> points;
        for (const Node node : allocation.nodes()) points.push_back(geometry.point(node));
        double sum = 0;
        for (const std::uint64_t total : geometry.total_distances(points)) sum += static_cast<double>(total);
        return to_routers + sum / static_cast<double>(count) / static_cast<double>(count - 1);
    });
}

BigVector<double> all_pairs_loads(const Allocation& allocation, int threads) {
    // A fixed number of partial sums, so that rounding does not depend on the number of threads.
    constexpr std::size_t parts = 8;
    const std::span<const Node> nodes = allocation.nodes();
    const std::size_t links = allocation.machine().link_count();
    const LoadQuantizer quantizer(Bytes{static_cast<std::int64_t>(nodes.size() * nodes.size())});
    const Chunks chunks(nodes.size(), (nodes.size() + parts - 1) / parts);
    std::vector<BigVector<double>> loads(chunks.size());
    with_common_routes(allocation.machine(), [&]<class T>(const T& network) {
        std::vector<typename T::Point> points;
        for (const Node node : nodes) points.push_back(network.point(node));
        parallel_for(chunks.size(), threads, [&](std::size_t c, int) {
            loads[c] = BigVector<double>(links);
            RouteLoads<T> mine(network, loads[c], quantizer);
            for (std::size_t i = chunks[c].begin; i < chunks[c].end; ++i) {
                mine.set_source(nodes[i], points[i]);
                for (std::size_t j = 0; j < nodes.size(); ++j) {
                    if (i != j) mine.add_route_to(nodes[j], points[j], 1.0);
                }
            }
        });
        for (std::size_t c = 1; c < loads.size(); ++c) {
            for (std::size_t link = 0; link < links; ++link) loads[0][link] += loads[c][link];
        }
        convert_sums_to_loads(network, loads[0]);
    });
    return std::move(loads.front());
}

AllocationShape allocation_shape(const Allocation& allocation, std::span<const double> loads) {
    if (loads.size() != allocation.machine().link_count()) fail("the loads belong to another machine");
    const Territory territory(allocation);
    AllocationShape shape{.components = territory.component_count()};
    double hops = 0;
    double foreign_hops = 0;
    const NetworkView network(allocation.machine().topology());
    for (const Link link : ids<Link>(network.link_count())) {
        if (!network.is_up(link)) continue;
        const LinkEnds ends = network.ends(link);
        const double load = loads[link.value];
        const bool inside = territory.holds(ends);
        shape.links_inside += inside ? 1 : 0;
        shape.links_leaving += !inside && territory.holds(ends.from) ? 1 : 0;
        if (load <= 0) continue;
        ++shape.links_used;
        hops += load;
        if (territory.owns(ends)) continue;
        shape.foreign.push_back(link.value);
        foreign_hops += load;
    }
    if (hops > 0) shape.foreign_share = foreign_hops / hops;
    return shape;
}

}  // namespace topoloom
