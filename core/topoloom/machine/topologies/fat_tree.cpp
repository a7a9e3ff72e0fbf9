// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/fat_tree.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <string_view>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/notation/text_piece.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/topologies/spec_list.hpp"

namespace topoloom {

namespace {

void require_positive(const std::vector<std::uint32_t>& counts, std::string_view what) {
    for (std::size_t j = 0; j < counts.size(); ++j) {
        if (counts[j] == 0) fail("level ", j + 1, " of a fat tree has 0 ", what, "; give at least 1");
    }
}

void require_ids(std::uint64_t count, std::string_view what) {
    if (count > std::numeric_limits<std::uint32_t>::max()) fail("the fat tree has more than 2^32 - 1 ", what);
}

std::string join_numbers(const std::vector<std::uint32_t>& values) {
    std::ostringstream text;
    for (const std::uint32_t& value : values) text << (&value == values.data() ? "" : ":") << value;
    return text.str();
}

}  // namespace

FatTree::FatTree(FatTreeSpec spec) : spec_(std::move(spec)), tree_(TreeSpec{spec_.arity, {}, {}, {}}) {
    complete_spec();
    std::uint64_t below = 1;  // nodes in a subtree
    std::uint64_t roots = 1;
    std::uint64_t links = 0;
    std::uint64_t vertices = 0;
    const auto add_vertices = [&] {
        first_vertex_.push_back(static_cast<std::uint32_t>(vertices));
        roots_.push_back(static_cast<std::uint32_t>(roots));
        vertices += node_count() / below * roots;
        require_ids(vertices, "nodes and switches");
    };
    for (std::size_t j = 0; j < spec_.arity.size(); ++j) {
        add_vertices();
        const std::uint64_t subtrees = node_count() / below;
        roots *= spec_.up[j];
        require_ids(roots, "links");
        const std::uint64_t cables = roots * spec_.parallel[j];
        require_ids(cables, "links");
        levels_.push_back({Divisor(static_cast<std::uint32_t>(below)),
                           Divisor(static_cast<std::uint32_t>(cables)), static_cast<std::uint32_t>(links)});
        links += 2 * subtrees * cables;
        require_ids(links, "links");
        below *= spec_.arity[j];
    }
    add_vertices();
    link_count_ = links;
    vertex_count_ = vertices;
}

void FatTree::complete_spec() {
    const std::size_t count = spec_.arity.size();
    if (count > max_levels) fail("a fat tree has at most ", max_levels, " levels, not ", count);
    if (spec_.up.empty()) {
        spec_.up = spec_.arity;
        std::rotate(spec_.up.begin(), spec_.up.end() - 1, spec_.up.end());
        spec_.up.front() = 1;
    }
    complete_list(spec_.up, count, 1U, "up", "fat tree", "levels");
    complete_list(spec_.parallel, count, 1U, "parallel", "fat tree", "levels");
    complete_list(spec_.bandwidth, count, BytesPerSecond{1}, "bandwidth", "fat tree", "levels");
    complete_list(spec_.latency, count, Seconds{0}, "latency", "fat tree", "levels");
    require_positive(spec_.up, "parents");
    require_positive(spec_.parallel, "parallel cables");
    for (const BytesPerSecond bandwidth : spec_.bandwidth) require_bandwidth(bandwidth);
}

void FatTree::convert_sums(std::span<double> loads) const {
    if (spec_.routing != FatTreeRouting::random) return;
    for (const Level& level : levels_) {
        const std::size_t cables = level.cables.value();
        const std::size_t subtrees = node_count() / level.nodes.value();
        for (std::size_t subtree = 0; subtree < subtrees; ++subtree) {
            double* const above = &loads[level.first_link + 2 * subtree * cables];
            const double up = above[0] / static_cast<double>(cables);
            const double down = above[1] / static_cast<double>(cables);
            for (std::size_t c = 0; c < cables; ++c) {
                above[2 * c] = up;
                above[2 * c + 1] = down;
            }
        }
    }
}

/// SimGrid first searches the ports of the cable selected by the source's number. In the switch below, it
/// continues after the port that it found last, and restarts only if no port remains.
std::uint32_t FatTree::simgrid_port(std::size_t j, std::uint32_t a, std::uint32_t b,
                                    std::uint32_t first) const {
    const std::uint32_t children = spec_.arity[j];
    const std::uint32_t child = levels_[j].nodes.quotient(b) % children;
    const std::uint32_t port = first + (child + children - first % children) % children;
    return port < children * spec_.parallel[j] ? port : a % spec_.parallel[j] * children + child;
}

std::uint32_t FatTree::level_of(Link link) const {
    const auto above = std::ranges::upper_bound(levels_, link.value, {}, &Level::first_link);
    return static_cast<std::uint32_t>(above - levels_.begin()) - 1;
}

std::uint32_t FatTree::cable_of(Link link) const {
    const Level& level = levels_[level_of(link)];
    return (link.value - level.first_link) / 2 % level.cables.value();
}

LinkEnds FatTree::ends(Link link) const {
    const std::uint32_t j = level_of(link);
    const std::uint32_t subtree = (link.value - levels_[j].first_link) / 2 / levels_[j].cables.value();
    const std::uint32_t cable = cable_of(link);
    const std::uint32_t child = first_vertex_[j] + subtree * roots_[j] + cable % roots_[j];
    const std::uint32_t parent =
        first_vertex_[j + 1] + subtree / spec_.arity[j] * roots_[j + 1] + cable % roots_[j + 1];
    return link.value % 2 == 0 ? LinkEnds{child, parent} : LinkEnds{parent, child};
}

std::vector<LinkRun> FatTree::bandwidth_runs() const {
    std::vector<LinkRun> runs;
    for (std::size_t j = 0; j < levels_.size(); ++j) {
        const std::size_t end = j + 1 < levels_.size() ? levels_[j + 1].first_link : link_count_;
        runs.push_back({Link{levels_[j].first_link}, end - levels_[j].first_link, spec_.bandwidth[j]});
    }
    return runs;
}

/// Link names are "node 5 to level 1 switch 1" or "level 2 switch 7 to level 1 switch 3, cable 1".
std::string FatTree::link_name(Link link) const {
    const auto named = [&](std::uint32_t vertex) {
        if (vertex < node_count()) return "node " + std::to_string(vertex);
        const auto level = std::ranges::upper_bound(first_vertex_, vertex) - first_vertex_.begin() - 1;
        return "level " + std::to_string(level) + " switch " +
               std::to_string(vertex - first_vertex_[static_cast<std::size_t>(level)]);
    };
    const LinkEnds between = ends(link);
    std::string name = named(between.from) + " to " + named(between.to);
    const std::uint32_t j = level_of(link);
    if (spec_.parallel[j] > 1) name += ", cable " + std::to_string(cable_of(link) / roots_[j + 1]);
    return name;
}

std::string FatTree::describe() const {
    std::ostringstream text;
    text << "fat tree " << join_numbers(spec_.arity) << ", up " << join_numbers(spec_.up);
    if (*std::ranges::max_element(spec_.parallel) > 1) text << ", parallel " << join_numbers(spec_.parallel);
    const std::array<std::string_view, 4> routings{"d-mod-k", "s-mod-k", "random", "simgrid"};
    text << ", " << routings[static_cast<std::size_t>(spec_.routing)] << " routing";
    return text.str();
}

namespace {

constexpr std::array<std::string_view, 4> fat_tree_routings{"d-mod-k", "s-mod-k", "random", "simgrid"};

constexpr std::array fat_tree_options{
    TopologyOption{"up", OptionForm::counts, "parents of each node or switch of a level"},
    TopologyOption{"parallel", OptionForm::counts, "cables to each parent"},
    TopologyOption{"routing", OptionForm::word, "which of the routes up a message takes", fat_tree_routings},
    bandwidth_option(OptionForm::level_quantities), latency_option(OptionForm::level_quantities)};

FatTree read_fat_tree(const Section& section) {
    FatTreeSpec spec;
    spec.arity = section.body.numbers(':');
    for (const auto& [key, value] : section.options) {
        if (key.text() == "up") {
            spec.up = value.numbers(':');
        } else if (key.text() == "parallel") {
            spec.parallel = value.numbers(':');
        } else if (key.text() == "routing") {
            spec.routing = static_cast<FatTreeRouting>(value.one_of(fat_tree_routings));
        } else if (key.text() == "bandwidth") {
            spec.bandwidth = read_level_bandwidths(value, spec.arity.size());
        } else {
            spec.latency = read_level_latencies(value, spec.arity.size());
        }
    }
    return section.name.add_context([&] { return FatTree(std::move(spec)); });
}

}  // namespace

constinit const TopologyNotation<FatTree> fat_tree_notation{
    .form = {.name = "fattree",
             .summary = "switches with several parents: down and up arities, cables, d-mod-k routes",
             .example = "fattree:44:182,up=1:6,parallel=1:3",
             .body = "levels",
             .separator = ":",
             .options = fat_tree_options},
    .read = read_fat_tree};

}  // namespace topoloom
