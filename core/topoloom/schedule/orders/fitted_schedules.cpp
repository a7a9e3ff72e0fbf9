// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/orders/fitted_schedules.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <type_traits>

#include "topoloom/base/extents.hpp"
#include "topoloom/machine/topologies/fat_tree.hpp"
#include "topoloom/machine/topologies/torus.hpp"
#include "topoloom/schedule/collectives/shapes/grid_trees.hpp"
#include "topoloom/schedule/collectives/shapes/seats.hpp"
#include "topoloom/schedule/orders/contention_free_order.hpp"

namespace topoloom {

namespace {

/// The interval of router coordinates on an axis; a full ring begins at the first router.
struct AxisInterval {
    std::uint32_t low = 0, extent = 0;
    bool is_ring = false;
};

/// Returns nothing if the routers have a gap.
std::optional<AxisInterval> find_axis_interval(std::span<const std::uint32_t> places, std::uint32_t size,
                                               bool wraps) {
    std::vector<bool> is_used(size, false);
    for (const std::uint32_t place : places) is_used[place] = true;
    const auto extent = static_cast<std::uint32_t>(std::count(is_used.begin(), is_used.end(), true));
    if (extent == size) return AxisInterval{wraps ? places.front() : 0, size, wraps && size > 2};
    std::optional<AxisInterval> found;
    for (std::uint32_t place = 0; place < size; ++place) {
        const bool begins = place == 0 ? !wraps || !is_used.back() : !is_used[place - 1];
        if (!is_used[place] || !begins) continue;
        if (found) return std::nullopt;
        found = AxisInterval{place, extent, false};
    }
    return found;
}

struct RankGrid {
    Extents extents;
    bool closed = true;
};

/// Axes of the box that the routers fill, given in rank order; the slowest axis first.
template <std::size_t Width>
std::optional<RankGrid> find_filled_box(const BasicTorus<Width>& torus, std::span<const Node> routers) {
    struct Axis {
        std::uint32_t extent;
        std::size_t stride;
        std::vector<std::uint32_t> place;  // coordinates of each router
    };
    std::vector<Axis> axes;
    RankGrid box;
    for (std::uint32_t axis = 0; axis < torus.axis_count(); ++axis) {
        std::vector<std::uint32_t> places;
        for (const Node router : routers) places.push_back(torus.coordinates(router)[axis]);
        const std::uint32_t size = torus.grid()[axis];
        const std::optional<AxisInterval> on = find_axis_interval(places, size, torus.wraps(axis));
        if (!on) return std::nullopt;
        if (on->extent == 1) continue;
        box.closed = box.closed && on->is_ring;
        for (std::uint32_t& place : places) place = (place + size - on->low) % size;
        const auto second = std::ranges::find(places, 1U);
        axes.push_back({on->extent, static_cast<std::size_t>(second - places.begin()), std::move(places)});
    }
    std::ranges::sort(axes, std::greater(), &Axis::stride);
    for (const Axis& axis : axes) box.extents.push_back(axis.extent);
    if (cell_count(box.extents) != routers.size()) return std::nullopt;
    const Extents strides = row_major_strides(box.extents);
    for (std::size_t i = 0; i < routers.size(); ++i) {
        std::size_t cell = 0;
        for (std::size_t axis = 0; axis < axes.size(); ++axis) cell += axes[axis].place[i] * strides[axis];
        if (cell != i) return std::nullopt;
    }
    return box;
}

template <std::size_t Width>
void add_fitted_schedules(const BasicTorus<Width>& torus, std::span<const Node> node_of_rank,
                          std::vector<std::string>& texts) {
    std::vector<Node> router_of;
    for (const Node node : node_of_rank)
        router_of.push_back(Node{torus.vertex(node) * torus.spec().nodes_per_router});
    const auto next = std::ranges::find_if(router_of, [&](Node at) { return at != router_of.front(); });
    const auto of_router = static_cast<std::size_t>(next - router_of.begin());
    std::vector<Node> routers;
    for (std::size_t rank = 0; rank < router_of.size(); ++rank) {
        if (rank % of_router == 0) routers.push_back(router_of[rank]);
        if (router_of[rank] != routers.back()) return;
    }
    if (router_of.size() % of_router != 0) return;  // the last router has fewer ranks
    std::optional<RankGrid> box = find_filled_box(torus, routers);
    if (!box || box->extents.empty()) return;
    if (of_router > 1) {
        box->extents.push_back(static_cast<std::uint32_t>(of_router));
        box->closed = box->closed && of_router > 2;
    }
    if (box->extents.size() > GridTrees::max_axes) return;
    texts.push_back("disjoint-trees(grid=" + format_extents(box->extents) +
                    (box->closed ? ")" : ",lines=open)"));
}

void add_fitted_schedules(const FatTree& tree, const Machine& machine, std::span<const Node> node_of_rank,
                          std::vector<std::string>& texts) {
    std::map<Node, std::size_t> ranks_on;
    std::vector<std::size_t> among_those_of_node;
    for (const Node node : node_of_rank) among_those_of_node.push_back(ranks_on[node]++);
    std::vector<Node> nodes;
    std::size_t most = 1;
    for (const auto& [node, ranks] : ranks_on) {
        nodes.push_back(node);
        most = std::max(most, ranks);
    }
    const auto offer = [&](const char* name, std::size_t of_node, std::size_t count, const auto& seat_of) {
        std::vector<std::size_t> seats;
        for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank)
            seats.push_back(seat_of(node_of_rank[rank]) * of_node + among_those_of_node[rank]);
        std::vector<std::size_t> plain(seats.size());
        std::iota(plain.begin(), plain.end(), std::size_t{0});
        if (seats == plain && count <= seats.size()) return;
        texts.push_back(std::string(name) + "(seats=" + format_seats(seats, count) + ")");
    };
    std::map<Node, std::size_t> place;
    const std::vector<Node> places = with_gaps(machine, nodes);
    for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i] != no_node) place[places[i]] = i;
    offer("pairwise", std::bit_ceil(most), 0, [&](Node node) { return place[node]; });
    std::uint32_t size = 1;
    for (const std::uint32_t arity : tree.spec().arity) {
        if (nodes.front().value / size == nodes.back().value / size) break;
        size *= arity;
    }
    if (size > 2 * nodes.size()) return;
    const std::uint32_t first = nodes.front().value / size * size;
    offer("cyclic", most, size * most, [&](Node node) { return node.value - first; });
}

}  // namespace

std::vector<std::string> fitted_schedules(const Machine& machine, std::span<const Node> node_of_rank) {
    std::vector<std::string> texts;
    if (node_of_rank.size() < 2) return texts;
    with_topology(machine, [&]<class T>(const T& network) {
        if constexpr (std::is_same_v<T, Torus> || std::is_same_v<T, WideTorus>) {
            add_fitted_schedules(network, node_of_rank, texts);
        } else if constexpr (std::is_same_v<T, FatTree>) {
            add_fitted_schedules(network, machine, node_of_rank, texts);
        }
    });
    return texts;
}

}  // namespace topoloom
