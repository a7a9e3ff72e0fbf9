// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/explicit_graph.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"
#include "topoloom/base/parallel.hpp"

namespace topoloom {

namespace {

constexpr std::uint16_t unreached = std::numeric_limits<std::uint16_t>::max();

std::string vertex_name(std::uint32_t v, std::uint32_t nodes) {
    return v < nodes ? "node " + std::to_string(v) : "switch " + std::to_string(v);
}

}  // namespace

ExplicitGraph::ExplicitGraph(ExplicitGraphSpec spec) : spec_(std::move(spec)) {
    if (spec_.nodes == 0) fail("a machine graph needs at least one node");
    if (vertex_count() > std::numeric_limits<std::int32_t>::max())
        fail("the machine graph has more than 2^31 vertices");
    const std::uint64_t pairs = std::uint64_t{spec_.nodes} * vertex_count();
    const std::uint64_t needed = pairs * sizeof(std::uint16_t);
    if (needed > usable_memory() / 10 * 8) {
        fail("distances between ", spec_.nodes, " nodes and ", vertex_count(), " vertices need ",
             needed >> 20, " MiB; this computer has ", usable_memory() >> 20,
             " MiB. Describe the machine as a torus or tree instead");
    }
    sort_links();
    measure_hops();
    add_given_routes();
}

void ExplicitGraph::sort_links() {
    auto& links = spec_.links;
    for (const ExplicitLink& link : links) {
        for (const std::uint32_t end : {link.from, link.to}) {
            if (end >= vertex_count()) {
                fail("link ", link.from, "-", link.to, " names vertex ", end, ", but there are only ",
                     vertex_count());
            }
        }
        if (link.from == link.to) fail("link ", link.from, "-", link.to, " joins a vertex to itself");
        require_bandwidth(link.bandwidth);
    }
    const auto ends = [](const ExplicitLink& link) { return std::pair(link.from, link.to); };
    std::sort(links.begin(), links.end(), [&](const auto& a, const auto& b) { return ends(a) < ends(b); });
    const auto twice = std::adjacent_find(links.begin(), links.end(),
                                          [&](const auto& a, const auto& b) { return ends(a) == ends(b); });
    if (twice != links.end()) {
        fail("the link from ", twice->from, " to ", twice->to,
             " is given twice; give one with the sum of their bandwidths");
    }
    first_.assign(vertex_count() + 1, 0);
    for (const ExplicitLink& link : links) ++first_[link.from + 1];
    for (std::size_t v = 0; v < vertex_count(); ++v) first_[v + 1] += first_[v];
}

/// Breadth-first search backwards from every node.
void ExplicitGraph::measure_hops() {
    const std::size_t vertices = vertex_count();
    std::vector<std::vector<std::uint32_t>> into(vertices);
    for (const ExplicitLink& link : spec_.links) into[link.to].push_back(link.from);
    hops_.assign(spec_.nodes * vertices, unreached);
    std::vector<std::uint32_t> farthest(spec_.nodes, 0);  // to node b, from any node
    parallel_for(spec_.nodes, 0, [&](std::size_t b, int) {
        std::uint16_t* const to_b = hops_.data() + b * vertices;
        std::vector<std::uint32_t> queue{static_cast<std::uint32_t>(b)};
        to_b[b] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const auto next = static_cast<std::uint32_t>(to_b[queue[i]] + 1);
            for (const std::uint32_t v : into[queue[i]]) {
                if (to_b[v] != unreached) continue;
                if (next >= unreached) fail("the machine graph has distances above ", unreached - 1);
                to_b[v] = static_cast<std::uint16_t>(next);
                queue.push_back(v);
            }
        }
        farthest[b] = *std::max_element(to_b, to_b + spec_.nodes);
    });
    diameter_ = *std::max_element(farthest.begin(), farthest.end());
    if (diameter_ != unreached) return;
    const auto b =
        static_cast<std::uint32_t>(std::find(farthest.begin(), farthest.end(), unreached) - farthest.begin());
    const std::span<const std::uint16_t> to_b = hops_to(b);
    fail("the machine is disconnected: node ", std::find(to_b.begin(), to_b.end(), unreached) - to_b.begin(),
         " has no route to node ", b, "; add links between them");
}

void ExplicitGraph::add_given_routes() {
    for (const auto& stops : spec_.routes) {
        if (stops.size() < 2 || stops.front() >= spec_.nodes || stops.back() >= spec_.nodes ||
            stops.front() == stops.back()) {
            fail("a route lists the vertices from one node to another node");
        }
        std::vector<std::uint32_t> sorted = stops;
        std::sort(sorted.begin(), sorted.end());
        const auto again = std::adjacent_find(sorted.begin(), sorted.end());
        if (again != sorted.end()) {
            fail("the route from node ", stops.front(), " to node ", stops.back(), " passes vertex ", *again,
                 " twice");
        }
        std::vector<Link> links;
        for (std::size_t i = 1; i < stops.size(); ++i) links.push_back(link_between(stops[i - 1], stops[i]));
        diameter_ = std::max(diameter_, static_cast<std::uint32_t>(links.size()));
        given_.emplace_back(Pair{stops.front(), stops.back()}, std::move(links));
    }
    std::sort(given_.begin(), given_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto twice = std::adjacent_find(given_.begin(), given_.end(),
                                          [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != given_.end())
        fail("the route from node ", twice->first.first, " to node ", twice->first.second, " is given twice");
    has_routes_ = !given_.empty();
}

bool ExplicitGraph::symmetric() const {
    const auto ends = [](const ExplicitLink& link) { return std::pair(link.from, link.to); };
    return !has_routes_ && std::ranges::all_of(spec_.links, [&](const ExplicitLink& link) {
        return std::ranges::binary_search(spec_.links, std::pair(link.to, link.from), {}, ends);
    });
}

Link ExplicitGraph::link_between(std::uint32_t from, std::uint32_t to) const {
    if (from < vertex_count()) {
        for (std::uint32_t i = first_[from]; i < first_[from + 1]; ++i) {
            if (spec_.links[i].to == to) return Link{i};
        }
    }
    fail("a route goes from vertex ", from, " to ", to, ", but no link does");
}

Link ExplicitGraph::next_link(std::uint32_t at, std::span<const std::uint16_t> to) const {
    std::uint32_t i = first_[at];
    while (to[spec_.links[i].to] + 1 != to[at]) ++i;
    return Link{i};
}

const std::vector<Link>* ExplicitGraph::given_route(std::uint32_t a, std::uint32_t b) const {
    const auto at = std::lower_bound(given_.begin(), given_.end(), Pair{a, b},
                                     [](const auto& entry, const Pair& pair) { return entry.first < pair; });
    return at != given_.end() && at->first == Pair{a, b} ? &at->second : nullptr;
}

std::uint32_t ExplicitGraph::routed_hops(std::uint32_t a, std::uint32_t b) const {
    const auto* given = given_route(a, b);
    return given ? static_cast<std::uint32_t>(given->size()) : hops_to(b)[a];
}

std::vector<LinkRun> ExplicitGraph::bandwidth_runs() const {
    std::vector<LinkRun> runs;
    for (const Link link : ids<Link>(link_count())) runs.push_back({link, 1, bandwidth(link)});
    return runs;
}

std::string ExplicitGraph::link_name(Link link) const {
    const ExplicitLink& l = spec_.links[link.value];
    return vertex_name(l.from, spec_.nodes) + " -> " + vertex_name(l.to, spec_.nodes);
}

std::vector<std::uint64_t> ExplicitGraph::total_distances(std::span<const Point> points) const {
    std::vector<std::uint64_t> totals(points.size(), 0);
    parallel_for(points.size(), 0, [&](std::size_t i, int) {
        for (const Point other : points) totals[i] += distance(points[i], other);
    });
    return totals;
}

std::vector<SplitKey> ExplicitGraph::split_keys(std::span<const Point> points) const {
    const auto farthest_from = [&](Point from) {
        return *std::max_element(points.begin(), points.end(),
                                 [&](Point a, Point b) { return hops(from, a) < hops(from, b); });
    };
    const Point left = farthest_from(points.front());
    const Point right = farthest_from(left);
    std::vector<SplitKey> keys;
    keys.reserve(points.size());
    for (const Point p : points) keys.push_back({diameter() + hops(left, p) - hops(right, p), hops(left, p)});
    return keys;
}

std::string ExplicitGraph::describe() const {
    std::ostringstream text;
    text << "graph of " << spec_.nodes << " nodes";
    if (spec_.switches > 0) text << ", " << spec_.switches << " switches";
    text << ", " << spec_.links.size() << " links";
    return text.str();
}

}  // namespace topoloom
