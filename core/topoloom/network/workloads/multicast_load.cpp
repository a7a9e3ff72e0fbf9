// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/workloads/multicast_load.hpp"

#include <string>
#include <type_traits>

#include "topoloom/base/error.hpp"
#include "topoloom/base/option.hpp"

namespace topoloom {

namespace {

struct MulticastOptions {
    std::uint32_t fanout = 4;
    std::uint32_t sets = 8;
    std::uint32_t senders = 0;
    void visit(auto& field) {
        field("fanout", fanout, {1, 1U << 20}, "receivers, on average");
        field("sets", sets, {1, 1024}, "of receivers, for each sender");
        field("senders", senders, {0, 1U << 20}, "nodes that send to the others; 0: all");
    }
};

}  // namespace

MulticastSets::MulticastSets(std::string_view text, std::size_t nodes, std::uint64_t seed) {
    const auto [name, options] = read_named_options("traffic", text);
    const std::string what = "traffic '" + std::string(name) + "'";
    const auto asked = read_options<MulticastOptions>(what, options);
    in_switches = name == "multicast";
    const std::size_t count = asked.senders == 0 ? nodes : asked.senders;
    if (count > nodes) fail(what, ": ", count, " senders of ", nodes, " nodes");
    const bool all_send = count == nodes;
    std::vector<bool> sends(nodes, all_send);
    for (std::size_t i = 0; i < count; ++i) {
        senders.push_back(Node{i * nodes / count});
        sends[senders.back().value] = true;
    }
    const std::size_t receivers = all_send ? nodes - 1 : nodes - count;
    if (asked.fanout > receivers)
        fail(what, ": a fanout of ", asked.fanout, ", but there are ", receivers, " receivers");
    sets_per_sender = asked.sets;
    for (const Node sender : senders) {
        Rng rng(seed, nodes + sender.value);
        for (std::uint32_t set = 0; set < asked.sets; ++set) {
            Multicast& drawn = this->sets.emplace_back(Multicast{sender, {sender}});
            while (drawn.members.size() == 1)
                for (const Node node : ids<Node>(nodes))
                    if (node != sender && (all_send || !sends[node.value]) &&
                        rng.below(static_cast<std::uint32_t>(receivers)) < asked.fanout)
                        drawn.members.push_back(node);
            fanout += static_cast<double>(drawn.members.size() - 1);
        }
    }
    fanout /= static_cast<double>(this->sets.size());
}

std::vector<SwitchGroup> multicast_groups(const Machine& machine, const MulticastSets& sets) {
    const std::vector<SpanningTree> trees =
        with_topology(machine, [&]<class T>(const T& topology) -> std::vector<SpanningTree> {
            if constexpr (std::is_same_v<T, FatTree>) return switch_trees(topology, sets.sets);
            std::vector<SpanningTree> along_routes;
            for (const Multicast& set : sets.sets) along_routes.push_back(route_tree(machine, set));
            return along_routes;
        });
    std::vector<SwitchGroup> groups;
    for (std::size_t set = 0; set < trees.size(); ++set)
        groups.push_back({SwitchCollective::multicast, trees[set], sets.sets[set].members});
    return groups;
}

MulticastLoad::MulticastLoad(const MulticastSets& sets, std::size_t nodes, std::uint32_t packet, double load,
                             std::uint64_t seed, const Injection& injection)
    : sets_(sets), packet_(packet), load_(load), number_(nodes, no_index), open_(sets.senders.size()) {
    if (injection.kind == Injection::Kind::closed)
        fail("multicasts have no replies; choose another injection than 'closed', or other traffic");
    for (const Node sender : sets.senders) {
        number_[sender.value] = static_cast<std::uint32_t>(sources_.size());
        sources_.emplace_back(injection, load, packet, seed, sender.value);
    }
}

std::uint64_t MulticastLoad::next(Node node) const {
    const std::uint32_t number = number_[node.value];
    if (number == no_index) return never;
    return open_[number].left > 0 ? open_[number].made : sources_[number].next();
}

PacketRequest MulticastLoad::take(Node node, std::uint64_t /*cycle*/) {
    const std::uint32_t number = number_[node.value];
    PacketSource& source = sources_[number];
    OpenMulticast& begun = open_[number];
    if (begun.left == 0) {
        const std::uint32_t drawn = source.rng().below(static_cast<std::uint32_t>(sets_.sets_per_sender));
        begun.set = number * sets_.sets_per_sender + drawn;
        begun.made = source.next();
        source.take();
        if (sets_.in_switches) return {Node{number_.size() + begun.set}, packet_, 0, begun.made};
        begun.left = sets_.sets[begun.set].members.size() - 1;
    }
    const std::vector<Node>& members = sets_.sets[begun.set].members;
    return {members[members.size() - begun.left--], packet_, 0, begun.made};
}

}  // namespace topoloom
