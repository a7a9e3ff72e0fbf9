// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/workloads/traffic_pattern.hpp"

#include <bit>
#include <numeric>
#include <span>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/option.hpp"

namespace topoloom {

namespace {

struct ShiftOptions {
    std::uint32_t by = 1;
    void visit(auto& field) { field("by", by, {1, 1U << 31}, "nodes between sender and receiver"); }
};

struct HotSpotOptions {
    std::uint32_t node = 0;
    std::uint32_t percent = 10;
    void visit(auto& field) {
        field("node", node, {0, 1U << 31}, "the node that many send to");
        field("percent", percent, {1, 100}, "of the packets that go there");
    }
};

/// Returns the number of bits of a node number.
unsigned address_bits(std::string_view traffic, std::size_t nodes, bool in_halves) {
    const auto bits = static_cast<unsigned>(std::bit_width(nodes) - 1);
    if (!std::has_single_bit(nodes) || (in_halves && bits % 2 != 0))
        fail("traffic '", traffic, "' needs ", in_halves ? "4, 16, 64, ..." : "2, 4, 8, ...",
             " nodes; the machine has ", nodes);
    return bits;
}

std::uint32_t reverse_bits(std::uint32_t number, unsigned bits) {
    std::uint32_t result = 0;
    for (unsigned bit = 0; bit < bits; ++bit) result = result << 1 | (number >> bit & 1U);
    return result;
}

/// Sattolo's shuffle: one cycle through all nodes, so no node sends to itself.
std::vector<Node> draw_permutation(std::size_t nodes, std::uint64_t seed) {
    std::vector<Node> to(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) to[i] = Node{i};
    Rng rng(seed, nodes);
    for (auto i = static_cast<std::uint32_t>(nodes - 1); i > 0; --i) std::swap(to[i], to[rng.below(i)]);
    return to;
}

template <class To>
std::vector<Node> map_nodes(std::size_t nodes, const To& to) {
    std::vector<Node> all(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) all[i] = Node{static_cast<std::uint32_t>(to(i))};
    return all;
}

}  // namespace

TrafficPattern::TrafficPattern(std::string_view text, std::size_t nodes, std::uint64_t seed)
    : nodes_(static_cast<std::uint32_t>(nodes)) {
    if (nodes < 2) fail("traffic between ", nodes, " nodes; there must be two");
    const auto [name, options] = read_named_options("traffic", text);
    if (name == "shift") {
        const auto by = read_options<ShiftOptions>("traffic 'shift'", options).by;
        fixed_ = map_nodes(nodes, [&](std::size_t i) { return (i + by) % nodes; });
        return;
    }
    if (name == "hot-spot") {
        const auto [node, percent] = read_options<HotSpotOptions>("traffic 'hot-spot'", options);
        if (node >= nodes)
            fail("traffic 'hot-spot': there is no node ", node, "; nodes are 0 to ", nodes - 1);
        hot_ = Node{node};
        hot_percent_ = percent;
        return;
    }
    (void)read_options<NoOptions>(name, options);
    if (name == "transpose") {
        const unsigned half = address_bits(name, nodes, true) / 2;
        fixed_ = map_nodes(nodes, [&](std::size_t i) { return i >> half | (i << half & (nodes - 1)); });
    } else if (name == "reversal") {
        const unsigned bits = address_bits(name, nodes, false);
        fixed_ = map_nodes(nodes,
                           [&](std::size_t i) { return reverse_bits(static_cast<std::uint32_t>(i), bits); });
    } else if (name == "complement") {
        address_bits(name, nodes, false);
        fixed_ = map_nodes(nodes, [&](std::size_t i) { return ~i & (nodes - 1); });
    } else if (name == "permutation") {
        fixed_ = draw_permutation(nodes, seed);
    } else if (name != "uniform") {
        fail_unknown_alternative("traffic", name, traffics);
    }
}

}  // namespace topoloom
