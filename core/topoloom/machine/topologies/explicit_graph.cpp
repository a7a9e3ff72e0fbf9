// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/explicit_graph.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/machine/notation/text_piece.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"

namespace topoloom {

namespace {

std::string vertex_name(std::uint32_t v, std::uint32_t nodes) {
    return v < nodes ? "node " + std::to_string(v) : "switch " + std::to_string(v);
}

}  // namespace

ExplicitGraph::ExplicitGraph(ExplicitGraphSpec spec) : spec_(std::move(spec)) {
    if (spec_.nodes == 0) fail("a machine graph needs at least one node");
    if (vertex_count() > std::numeric_limits<std::int32_t>::max())
        fail("the machine graph has more than 2^31 vertices");
    if (spec_.switches > 2 * spec_.links.size()) {
        fail("the machine graph has ", spec_.switches, " switches, more than its ", spec_.links.size(),
             " links can join; leave out switches without a link");
    }
    // A leaf, which needs no row, has two links. Check the memory before allocating anything per vertex.
    const std::uint64_t rows = spec_.nodes - std::min<std::uint64_t>(spec_.nodes, spec_.links.size() / 2);
    HopTable::require_memory(rows, rows, spec_.nodes);
    sort_links();
    add_listed_routes();
    require_connected();
    find_shortest_routes();
    add_forwarding_tables();
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

/// Rejects a disconnected graph before the table of distances is allocated, because a short text can describe
/// many nodes.
void ExplicitGraph::require_connected() const {
    std::vector<std::uint32_t> part(vertex_count());
    std::iota(part.begin(), part.end(), 0U);
    const auto root = [&](std::uint32_t v) {
        while (part[v] != v) v = part[v] = part[part[v]];
        return v;
    };
    for (const ExplicitLink& link : spec_.links) part[root(link.from)] = root(link.to);
    for (std::uint32_t v = 1; v < spec_.nodes; ++v) {
        if (root(v) != root(0))
            fail("the machine is disconnected: node ", v, " has no route to node 0; add links between them");
    }
}

void ExplicitGraph::find_shortest_routes() {
    std::vector<std::uint32_t> vertices(spec_.nodes);
    std::iota(vertices.begin(), vertices.end(), 0U);
    std::vector<bool> forwarding;
    for (std::uint32_t v = 0; v < vertex_count(); ++v) forwarding.push_back(forwards(v));
    std::vector<ShortestRoutes::Arc> arcs;
    for (const Link link : ids<Link>(link_count()))
        arcs.push_back({link, ends(link).from, ends(link).to, bandwidth(link).value});
    using Choice = ShortestRoutes::Choice;
    shortest_ = ShortestRoutes(vertices, forwarding, std::move(arcs),
                               shares_shortest_routes() ? Choice::shared : Choice::first);
    if (const auto [from, to] = geometry().unreachable_pair(); from != to) {
        fail("the machine is disconnected: node ", from.value, " has no route to node ", to.value,
             "; add links between them");
    }
    std::vector<HopTable::HopOverride> overrides;
    for (const auto& [pair, links] : given_) {
        overrides.push_back({pair.first, pair.second, static_cast<std::uint32_t>(links.size())});
    }
    shortest_.override_hops(std::move(overrides));
}

void ExplicitGraph::add_listed_routes() {
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
        for (std::size_t i = 1; i < stops.size(); ++i) {
            if (stops[i - 1] >= vertex_count() || !has_link(stops[i - 1], stops[i]))
                fail("a route goes from vertex ", stops[i - 1], " to ", stops[i],
                     ", but there is no such link");
            links.push_back(link_between(stops[i - 1], stops[i]));
        }
        given_.emplace_back(Pair{stops.front(), stops.back()}, std::move(links));
    }
    std::sort(given_.begin(), given_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto twice = std::adjacent_find(given_.begin(), given_.end(),
                                          [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != given_.end())
        fail("the route from node ", twice->first.first, " to node ", twice->first.second, " is given twice");
}

void ExplicitGraph::add_forwarding_tables() {
    if (spec_.tables.empty()) return;
    if (!given_.empty()) fail("a machine graph has routes or forwarding tables, not both");
    std::vector<std::uint32_t> to;
    for (const ExplicitLink& link : spec_.links) to.push_back(link.to);
    tables_ = ForwardingTables(spec_.tables, {spec_.nodes, first_, to});
    spec_.tables = {};
    const std::size_t nodes = spec_.nodes;
    const Chunks chunks(nodes, 64);
    std::vector<char> longer(chunks.size(), 0);
    const auto follow_all = [&](const auto& take) {
        parallel_for(chunks.size(), 0, [&](std::size_t c, int) {
            std::vector<std::uint16_t> hops;
            for (std::size_t b = chunks[c].begin; b < chunks[c].end; ++b) {
                measure_hops_along_tables(static_cast<std::uint32_t>(b), hops);
                take(c, b, hops);
            }
        });
    };
    follow_all([&](std::size_t c, std::size_t b, const std::vector<std::uint16_t>& hops) {
        const HopTable& shortest = shortest_.table();
        for (std::size_t a = 0; a < nodes; ++a) {
            if (hops[a] != shortest.distance(shortest.point(Node{a}), shortest.point(Node{b}))) longer[c] = 1;
        }
    });
    takes_detours_ = std::ranges::any_of(longer, [](char one) { return one == 1; });
    if (!takes_detours_) return;
    HopTable::require_memory(nodes, nodes);
    HopTable::Hops table(nodes * nodes);
    follow_all([&](std::size_t, std::size_t b, const std::vector<std::uint16_t>& hops) {
        std::copy_n(hops.begin(), nodes, table.begin() + static_cast<std::ptrdiff_t>(b * nodes));
    });
    by_tables_ = HopTable(HopTable::points_of_routers(nodes, 1), nodes, std::move(table));
}

void ExplicitGraph::measure_hops_along_tables(std::uint32_t target, std::vector<std::uint16_t>& hops) const {
    constexpr std::uint16_t passed = HopTable::unreached;
    hops.assign(vertex_count(), 0);
    std::vector<std::uint32_t> path;
    for (std::uint32_t source = 0; source < spec_.nodes; ++source) {
        const auto fail_at = [&](std::uint32_t at, const char* what) {
            fail("by the forwarding tables, a message from node ", source, " to node ", target, " reaches ",
                 vertex_name(at, spec_.nodes), ", ", what);
        };
        std::uint32_t at = source;
        while (at != target && hops[at] == 0) {
            hops[at] = passed;
            path.push_back(at);
            const std::uint32_t link = tables_.next_link(at, target);
            if (link == no_index) fail_at(at, "which has no link for it");
            at = spec_.links[link].to;
            if (at != target && !forwards(at)) fail_at(at, "which does not forward");
        }
        if (at != target && hops[at] == passed) fail_at(at, "twice");
        if (hops[at] + path.size() >= passed) fail("the machine graph has distances above ", passed - 1);
        for (std::uint16_t count = hops[at]; !path.empty(); path.pop_back()) hops[path.back()] = ++count;
    }
}

bool ExplicitGraph::has_link(std::uint32_t from, std::uint32_t to) const {
    const auto begin = spec_.links.begin() + first_[from];
    const auto end = spec_.links.begin() + first_[from + 1];
    const auto at = std::ranges::lower_bound(begin, end, to, {}, &ExplicitLink::to);
    return at != end && at->to == to;
}

Link ExplicitGraph::link_between(std::uint32_t from, std::uint32_t to) const {
    const auto begin = spec_.links.begin() + first_[from];
    const auto end = spec_.links.begin() + first_[from + 1];
    const auto at = std::ranges::lower_bound(begin, end, to, {}, &ExplicitLink::to);
    return Link{static_cast<std::size_t>(at - spec_.links.begin())};
}

const std::vector<Link>* ExplicitGraph::find_listed_route(std::uint32_t a, std::uint32_t b) const {
    const auto at = std::lower_bound(given_.begin(), given_.end(), Pair{a, b},
                                     [](const auto& entry, const Pair& pair) { return entry.first < pair; });
    return at != given_.end() && at->first == Pair{a, b} ? &at->second : nullptr;
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

std::string ExplicitGraph::describe() const {
    std::ostringstream text;
    text << "graph of " << spec_.nodes << " nodes";
    if (spec_.switches > 0) text << ", " << spec_.switches << (spec_.switches == 1 ? " switch" : " switches");
    text << ", " << spec_.links.size() << " links";
    if (!tables_.empty()) text << ", routes by forwarding tables";
    if (tables_.empty() && shares_shortest_routes()) text << ", ECMP routing";
    return text.str();
}

namespace {

constexpr std::array<std::string_view, 2> no_or_yes{"no", "yes"};
constexpr std::array<std::string_view, 2> graph_routings{"lowest", "ecmp"};

constexpr std::array graph_options{
    bandwidth_option(OptionForm::quantity),
    latency_option(OptionForm::quantity),
    TopologyOption{"routing", OptionForm::word,
                   "which of the shortest routes: to the neighbor with the lowest id, or all share",
                   graph_routings},
    TopologyOption{"route", OptionForm::route, "a route that is not the shortest path"},
    TopologyOption{"table", OptionForm::table,
                   "forwarding table of a vertex: letters are its links, behind how many nodes they lead to"},
    TopologyOption{"forward", OptionForm::word, "whether messages pass through nodes", no_or_yes}};

void read_link(const TextPiece& item, BytesPerSecond standard, Seconds latency,
               std::vector<ExplicitLink>& links) {
    const auto [ends, qualities] = item.cut('@');
    const auto [speed, delay] = qualities ? qualities->cut('@') : std::pair(item, std::optional<TextPiece>{});
    const bool one_way = ends.text().find('>') != std::string_view::npos;
    const auto [from, to] = ends.cut(one_way ? '>' : '-');
    if (!to) item.reject("expected a link such as 0-1 or 0>1");
    const ExplicitLink link{from.number(), to->number(),
                            qualities ? read_bandwidth(speed, standard) : standard,
                            delay ? read_quantity(*delay, parse_time) : latency};
    links.push_back(link);
    if (!one_way) links.push_back({link.to, link.from, link.bandwidth, link.latency});
}

/// Reads runs such as 20a(53)3-: link 0 for 20 nodes, link 53 for one node, and no link for three nodes. a-z
/// and A-Z are links 0 to 51.
ForwardingTable read_forwarding_table(const TextPiece& value) {
    const auto [vertex, entries] = value.cut(':');
    if (!entries) value.reject("expected a vertex and its forwarding table, such as 8:2ab-");
    ForwardingTable table{vertex.number(), {}};
    const std::string_view text = entries->text();
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t at = 0; at < text.size();) {
        ForwardingRun run{1, ForwardingRun::no_port};
        const std::size_t start = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        if (at > start) run.count = entries->sub(text.substr(start, at - start)).number();
        const char c = at < text.size() ? text[at] : '\0';
        const std::size_t close = c == '(' ? text.find(')', at) : at;
        if (c >= 'a' && c <= 'z') {
            run.port = static_cast<std::uint32_t>(c - 'a');
        } else if (c >= 'A' && c <= 'Z') {
            run.port = static_cast<std::uint32_t>(c - 'A') + 26;
        } else if (c == '(' && close != std::string_view::npos) {
            run.port = entries->sub(text.substr(at + 1, close - at - 1)).number();
        } else if (c != '-') {
            entries->sub(text.substr(at, 1)).reject("expected a letter, a number in parentheses or -");
        }
        table.runs.push_back(run);
        at = close + 1;
    }
    return table;
}

ExplicitGraph read_graph(const Section& section) {
    ExplicitGraphSpec spec;
    const auto [counts, first_link] = section.body.cut(':');
    const auto [nodes, switches] = counts.cut('+');
    spec.nodes = nodes.number();
    if (switches) spec.switches = switches->number();
    BytesPerSecond bandwidth{1};
    Seconds latency{0};
    for (const auto& [key, value] : section.options) {
        if (key.text() == "bandwidth") {
            bandwidth = read_quantity(value, parse_bandwidth);
        } else if (key.text() == "latency") {
            latency = read_quantity(value, parse_time);
        } else if (key.text() == "routing") {
            spec.routing = static_cast<GraphRouting>(value.one_of(graph_routings));
        } else if (key.text() == "route") {
            spec.routes.push_back(value.numbers('>'));
        } else if (key.text() == "table") {
            spec.tables.push_back(read_forwarding_table(value));
        } else {
            spec.nodes_forward = value.one_of(no_or_yes) == 1;
        }
    }
    if (first_link && !first_link->empty()) read_link(*first_link, bandwidth, latency, spec.links);
    for (const TextPiece& item : section.items) read_link(item, bandwidth, latency, spec.links);
    return section.name.add_context([&] { return ExplicitGraph(std::move(spec)); });
}

}  // namespace

constinit const TopologyNotation<ExplicitGraph> graph_notation{
    .form = {.name = "graph",
             .summary =
                 "nodes and links one by one, switches after the nodes; shortest, shared or given routes",
             .example = "graph:4+1:0-4,1-4,2-4,3-4",
             .body = "",
             .separator = "",
             .options = graph_options,
             .lists_links = true},
    .read = read_graph};

}  // namespace topoloom
