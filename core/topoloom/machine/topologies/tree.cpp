// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/topologies/tree.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <unordered_map>

#include "topoloom/machine/notation/text_piece.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"
#include "topoloom/machine/topologies/spec_list.hpp"

namespace topoloom {

Tree::Tree(TreeSpec spec) : spec_(std::move(spec)) {
    const std::size_t count = spec_.arity.size();
    if (spec_.distance.empty()) {
        for (std::uint32_t j = 1; j <= count; ++j) spec_.distance.push_back(2 * j);
    }
    levels_ = Levels(spec_.arity, spec_.distance);
    complete_list(spec_.bandwidth, count, BytesPerSecond{1}, "bandwidth", "tree", "levels");
    complete_list(spec_.latency, count, Seconds{0}, "latency", "tree", "levels");
    for (const BytesPerSecond bandwidth : spec_.bandwidth) require_bandwidth(bandwidth);
    std::uint64_t link_count = 0;
    std::uint64_t groups = levels_.size();
    for (const std::uint32_t arity : spec_.arity) {
        link_count += 2 * groups;
        groups /= arity;
    }
    require_link_ids(link_count);
    std::uint32_t vertices = levels_.size();
    std::uint32_t leaves = 1;
    std::uint32_t next = 0;
    for (const std::uint32_t arity : spec_.arity) {
        offset_.push_back(next);
        span_.emplace_back(leaves);
        next += vertices;
        vertices /= arity;
        leaves *= arity;
    }
    offset_.push_back(next);
    span_.emplace_back(leaves);
}

std::uint32_t Tree::diameter() const { return hops(point(Node{0}), point(Node{levels_.size() - 1})); }
std::uint32_t Tree::max_distance() const { return distance(point(Node{0}), point(Node{levels_.size() - 1})); }

std::uint32_t Tree::level_of(Link link) const {
    const auto above = std::upper_bound(offset_.begin(), offset_.end(), link.value / 2);
    return static_cast<std::uint32_t>(above - offset_.begin()) - 1;
}

LinkEnds Tree::ends(Link link) const {
    const std::uint32_t level = level_of(link);
    const std::uint32_t child = link.value / 2;
    const std::uint32_t parent = offset_[level + 1] + (child - offset_[level]) / spec_.arity[level];
    return link.value % 2 == 0 ? LinkEnds{child, parent} : LinkEnds{parent, child};
}

std::vector<LinkRun> Tree::bandwidth_runs() const {
    std::vector<LinkRun> runs;
    for (std::size_t j = 0; j < spec_.arity.size(); ++j) {
        runs.push_back(
            {Link{2 * offset_[j]}, 2 * std::size_t{offset_[j + 1] - offset_[j]}, spec_.bandwidth[j]});
    }
    return runs;
}

/// A link named "level 2 group 5 up" leads from this group (at level 0: from a node) to the group above.
std::string Tree::link_name(Link link) const {
    const std::uint32_t level = level_of(link);
    std::ostringstream text;
    if (level == 0) {
        text << "node " << link.value / 2;
    } else {
        text << "level " << level << " group " << link.value / 2 - offset_[level];
    }
    text << (link.value % 2 == 0 ? " up" : " down");
    return text.str();
}

/// Counts the points of each group, then adds up the distances of each point. O(points * levels).
std::vector<std::uint64_t> Tree::total_distances(std::span<const Point> points) const {
    const std::uint32_t count = levels_.count();
    std::vector<std::unordered_map<Point, std::uint64_t>> members(count + 1);
    const auto group = [&](Point p, std::uint32_t level) {  // group number of a leaf
        for (std::uint32_t j = 0, bits = 0; j < level; ++j) {
            bits += static_cast<std::uint32_t>(std::bit_width(spec_.arity[j] - 1));
            if (j + 1 == level) return bits >= 64 ? 0 : p >> bits;
        }
        return p;
    };
    for (const Point p : points) {
        for (std::uint32_t j = 0; j <= count; ++j) ++members[j][group(p, j)];
    }
    std::vector<std::uint64_t> totals(points.size(), 0);
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::uint32_t j = 1; j <= count; ++j) {
            const std::uint64_t here =
                members[j][group(points[i], j)] - members[j - 1][group(points[i], j - 1)];
            totals[i] += here * spec_.distance[j - 1];
        }
    }
    return totals;
}

auto Tree::region(std::span<const Point> points) const -> Region {
    const auto [low, high] = std::minmax_element(points.begin(), points.end());
    return {*low, *high};
}

std::string Tree::describe() const {
    std::ostringstream text;
    text << "tree ";
    for (std::size_t j = 0; j < spec_.arity.size(); ++j) text << (j == 0 ? "" : ":") << spec_.arity[j];
    text << ", distances ";
    for (std::size_t j = 0; j < spec_.distance.size(); ++j) text << (j == 0 ? "" : ":") << spec_.distance[j];
    return text.str();
}

namespace {

constexpr std::array tree_options{
    TopologyOption{"distance", OptionForm::distances, "distance between nodes that share no lower level"},
    bandwidth_option(OptionForm::level_quantities), latency_option(OptionForm::level_quantities)};

Tree read_tree(const Section& section) {
    TreeSpec spec;
    spec.arity = section.body.numbers(':');
    for (const auto& [key, value] : section.options) {
        if (key.text() == "distance") {
            spec.distance = value.numbers(':');
        } else if (key.text() == "bandwidth") {
            spec.bandwidth = read_level_bandwidths(value, spec.arity.size());
        } else {
            spec.latency = read_level_latencies(value, spec.arity.size());
        }
    }
    return section.name.add_context([&] { return Tree(std::move(spec)); });
}

}  // namespace

constinit const TopologyNotation<Tree> tree_notation{
    .form = {.name = "tree",
             .summary = "levels bottom-up: 4 in a group, 8 groups in the next; absolute distances",
             .example = "tree:4:8:2,distance=1:10:100",
             .body = "levels",
             .separator = ":",
             .options = tree_options},
    .read = read_tree};

}  // namespace topoloom
