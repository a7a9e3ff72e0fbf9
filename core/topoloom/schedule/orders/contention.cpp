// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/orders/contention.hpp"

#include <algorithm>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/route_loads.hpp"

namespace topoloom {

namespace {

void require_nodes(std::span<const NodeMessage> messages, std::size_t nodes) {
    for (const auto [from, to] : messages) {
        const std::uint32_t last = std::max(from.value, to.value);
        if (last >= nodes) fail("a message at node ", last, ": the machine has nodes 0 to ", nodes - 1);
    }
}

std::uint32_t messages_per_cable(std::uint32_t messages, std::uint32_t cables) {
    return (messages + cables - 1) / cables;
}

}  // namespace

std::vector<NodeMessage> list_node_messages(const Step& step, std::span<const Node> node_of_rank) {
    const auto node = [&](Rank rank) {
        return rank.value < node_of_rank.size() ? node_of_rank[rank.value] : no_node;
    };
    std::vector<NodeMessage> messages;
    for (const auto [from, to] : step) {
        if (node(from) != no_node && node(to) != no_node) messages.push_back({node(from), node(to)});
    }
    return messages;
}

void require_ranks(const Step& step, std::size_t ranks) {
    for (const auto [from, to] : step) {
        const Rank last = std::max(from, to);
        if (last.value >= ranks)
            fail("rank ", last.value, " of a step has no node: there are nodes for ", ranks, " ranks");
    }
}

const FatTree& require_fat_tree(const Machine& machine) {
    const auto* const tree = std::get_if<FatTree>(&machine.topology());
    if (tree == nullptr)
        fail("upward routes require a complete fat tree, such as fattree:16:16, not for '", machine.text(),
             "'");
    return *tree;
}

AnyUpwardRoutes::AnyUpwardRoutes(const FatTree& tree) {
    const FatTreeSpec& spec = tree.spec();
    std::uint32_t below = 1;
    std::uint32_t roots = 1;
    for (std::size_t j = 0; j < spec.arity.size(); ++j) {
        roots *= spec.up[j];
        const auto subtrees = static_cast<std::uint32_t>(tree.node_count()) / below;
        levels_.push_back({Divisor(below), subtrees, roots * spec.parallel[j]});
        below *= spec.arity[j];
    }
}

Meetings AnyUpwardRoutes::meetings(std::span<const NodeMessage> messages) {
    require_nodes(messages, levels_.empty() ? 1 : levels_.front().subtrees);
    Meetings all;
    for (const Level& level : levels_) {
        subtrees_.assign(level.subtrees, {});
        for (const auto [from, to] : messages) {
            const std::uint32_t source = level.nodes.quotient(from.value);
            Subtree& target = subtrees_[level.nodes.quotient(to.value)];
            if (&target == &subtrees_[source]) continue;
            ++subtrees_[source].leaving;
            target.several = target.several || (target.entering > 0 && target.from != source);
            target.from = source;
            ++target.entering;
            all.most = std::max(all.most, 1.0);
        }
        const auto places = std::ranges::count_if(subtrees_, [&](const Subtree& subtree) {
            return subtree.several || std::max(subtree.entering, subtree.leaving) > level.cables;
        });
        if (places == 0) continue;
        all.places += static_cast<std::size_t>(places);
        all.most = std::max(all.most, max_messages_per_cable(level, messages));
    }
    return all;
}

/// Messages from one subtree use different cables.
double AnyUpwardRoutes::max_messages_per_cable(const Level& level,
                                               std::span<const NodeMessage> messages) const {
    std::uint32_t most = 0;
    for (const Subtree& subtree : subtrees_)
        most = std::max(most, messages_per_cable(std::max(subtree.entering, subtree.leaving), level.cables));
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ways;  // pairs of subtrees: entered, left
    for (const auto [from, to] : messages) {
        const std::pair way(level.nodes.quotient(to.value), level.nodes.quotient(from.value));
        if (way.first != way.second) ways.push_back(way);
    }
    std::ranges::sort(ways);
    ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
    std::uint32_t sources = 0;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        sources = i > 0 && ways[i].first == ways[i - 1].first ? sources + 1 : 1;
        most = std::max(most, sources);
    }
    return most;
}

Meetings meetings_on_routes(const Machine& machine, std::span<const NodeMessage> messages) {
    require_nodes(messages, machine.node_count());
    for (const auto [from, to] : messages) machine.require_connected(from, to);
    return with_common_topology(machine, [&](const auto& network) {
        std::vector<double> loads(network.link_count());
        {
            const Bytes all{static_cast<std::int64_t>(messages.size())};
            RouteLoads adder(network, std::span(loads), LoadQuantizer(all));
            for (const auto [from, to] : messages) {
                if (from == to) continue;
                adder.set_source(from, network.point(from));
                adder.add_route_to(to, network.point(to), 1.0);
            }
        }
        convert_sums_to_loads(network, std::span(loads));
        constexpr double one = 1 + 1e-9;  // fractions of a message may not sum up to 1
        Meetings meetings;
        for (const double load : loads) {
            meetings.places += load > one ? 1 : 0;
            meetings.most = std::max(meetings.most, load);
        }
        return meetings;
    });
}

}  // namespace topoloom
