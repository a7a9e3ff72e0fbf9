// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/machine.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

template <class... Ts>
constexpr bool are_topologies(const std::variant<Ts...>*) {
    return (Topology<Ts> && ...);
}
static_assert(are_topologies(static_cast<AnyTopology*>(nullptr)));

/// use(topology) if it has coordinates, `otherwise` if not.
template <class Use, class Value>
Value with_grid(const Machine& machine, const Use& use, const Value& otherwise) {
    const auto apply = [&]<class T>(const T& topology) -> Value {
        if constexpr (GridTopology<T>) {
            return use(topology);
        } else {
            return otherwise;
        }
    };
    return with_topology(machine, [&]<class T>(const T& topology) -> Value {
        if constexpr (std::is_same_v<T, Degraded>) {
            return std::visit(apply, topology.whole());
        } else {
            return apply(topology);
        }
    });
}

}  // namespace

Machine::Machine(AnyTopology topology, NodeInside inside, std::string text)
    : topology_(std::move(topology)), inside_(std::move(inside)), text_(std::move(text)) {
    node_count_ = with_topology(*this, [](const auto& t) { return t.node_count(); });
    if (slot_count() > std::numeric_limits<std::int32_t>::max()) fail("the machine has more than 2^31 slots");
    const std::uint64_t network = with_geometry(*this, [](const auto& g) { return g.max_distance(); });
    const std::uint64_t ports = std::uint64_t{2} * inside_.max_port_cost();
    if (std::max<std::uint64_t>(network * inside_.hop_weight + ports, inside_.levels.distances().back()) >
        std::numeric_limits<std::int32_t>::max()) {
        fail("distances of the machine exceed 2^31; use smaller weights");
    }
}

std::size_t Machine::link_count() const {
    return with_topology(*this, [](const auto& t) { return t.link_count(); });
}

std::vector<Node> Machine::usable_nodes() const {
    if (const auto* degraded = std::get_if<Degraded>(&topology_)) return degraded->usable_nodes();
    const ids<Node> all(node_count_);
    return {all.begin(), all.end()};
}

void Machine::require_usable(std::span<const Node> nodes) const {
    if (const auto* degraded = std::get_if<Degraded>(&topology_)) degraded->require_usable(nodes);
}

std::uint32_t Machine::distance(Slot a, Slot b) const {
    return with_space(*this,
                      [&](const auto& space) { return space.distance(space.point(a), space.point(b)); });
}

std::uint32_t Machine::max_distance() const {
    const std::uint32_t network = with_geometry(*this, [](const auto& g) { return g.max_distance(); });
    const Levels& levels = inside_.levels;
    const std::uint32_t ports = node_count_ == 1 ? 0 : 2 * inside_.max_port_cost();
    return std::max(network * inside_.hop_weight + ports,
                    levels.distance(levels.key(0), levels.key(levels.size() - 1)));
}

std::uint32_t Machine::hops(Node a, Node b) const {
    return with_topology(*this, [&](const auto& t) { return t.hops(t.point(a), t.point(b)); });
}

double Machine::average_distance() const {
    if (node_count_ < 2) return 0;
    return with_geometry(*this, [&]<class T>(const T& g) {
        std::vector<typename T::Point> points;
        for (const Node node : usable_nodes()) points.push_back(g.point(node));
        const auto totals = g.total_distances(points);
        double sum = 0;
        for (const std::uint64_t total : totals) sum += static_cast<double>(total);
        if constexpr (std::is_same_v<T, HopTable>) {
            const std::uint64_t pairs = g.reached_pairs(points);
            return pairs == 0 ? 0.0 : sum / static_cast<double>(pairs);
        } else {
            return sum / static_cast<double>(node_count_) / static_cast<double>(node_count_ - 1);
        }
    });
}

bool Machine::has_grid() const {
    return with_grid(*this, [](const auto&) { return true; }, false);
}

std::vector<std::uint32_t> Machine::grid() const {
    const std::vector<std::uint32_t> line{static_cast<std::uint32_t>(node_count_)};
    return with_grid(*this, [](const auto& t) -> std::vector<std::uint32_t> { return t.grid(); }, line);
}

std::vector<bool> Machine::wraps() const {
    const auto wraps_of = [](const auto& t) {
        std::vector<bool> wraps;
        for (std::uint32_t d = 0; d < t.grid().size(); ++d) wraps.push_back(t.wraps(d));
        return wraps;
    };
    return with_grid(*this, wraps_of, std::vector<bool>{false});
}

std::vector<std::uint32_t> Machine::coordinates(Node node) const {
    return with_grid(*this, [&](const auto& t) { return t.coordinates(node); }, std::vector{node.value});
}

Node Machine::node_at(const std::vector<std::uint32_t>& at) const {
    const std::vector<std::uint32_t> extents = grid();
    if (at.size() != extents.size()) {
        fail("coordinates of this machine have ", extents.size(), " numbers, not ", at.size());
    }
    std::size_t vertex = 0;
    std::size_t vertices = 1;
    for (std::size_t d = 0; d < at.size(); ++d) {
        if (at[d] >= extents[d]) {
            fail("coordinate ", at[d], " is outside 0..", extents[d] - 1, " on axis ", d, " of the machine");
        }
        vertex = vertex * extents[d] + at[d];
        vertices *= extents[d];
    }
    return Node{vertex * (node_count_ / vertices)};
}

std::string Machine::describe() const {
    std::ostringstream text;
    text << with_topology(*this, [](const auto& t) { return t.describe(); });
    if (slots_per_node() > 1) text << "; " << slots_per_node() << " slots a node";
    return text.str();
}

}  // namespace topoloom
