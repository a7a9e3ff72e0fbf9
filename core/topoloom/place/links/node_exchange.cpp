// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/links/node_exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/place/links/congestion.hpp"
#include "topoloom/place/preparation.hpp"

namespace topoloom::links {

namespace {

/// The allocated slots of each node, in the order of the allocation.
std::vector<std::vector<Slot>> list_slots_by_node(const Allocation& allocation) {
    std::vector<std::vector<Slot>> slots(allocation.nodes().size());
    for (std::size_t i = 0; i < allocation.slot_count(); ++i)
        slots[allocation.node_of_slot()[i]].push_back(allocation.slots()[i]);
    return slots;
}

bool have_equal_sizes(std::span<const std::vector<Slot>> lists) {
    return std::ranges::adjacent_find(lists, std::not_equal_to<>{}, &std::vector<Slot>::size) == lists.end();
}

/// The ranks on each node, and the place of each rank: which node, and which of its slots.
class NodeGroups {
   public:
    NodeGroups(const Placement& placement, std::span<const std::vector<Slot>> slots, std::size_t slot_count)
        : ranks_(slots.size()) {
        std::vector<Place> place_of(slot_count);
        for (std::uint32_t node = 0; node < slots.size(); ++node) {
            for (std::uint32_t i = 0; i < slots[node].size(); ++i) place_of[slots[node][i].value] = {node, i};
        }
        for (const Rank u : ids<Rank>(placement.rank_count())) {
            places_.push_back(place_of[placement[u].value]);
            ranks_[places_.back().node].push_back(u);
        }
    }

    /// The inter-node traffic as a graph of nodes. Messages count 0, because startups do not depend on which
    /// node a group is on.
    [[nodiscard]] CommGraph contract(const CommGraph& graph) const {
        const auto add_row = [&](Rank node, const auto& add) {
            for (const Rank u : ranks_[node.value]) {
                for (const Edge edge : graph.sends(u)) {
                    const Rank to{places_[edge.peer.value].node};
                    if (to != node) add(Edge{to, edge.bytes, 0});
                }
            }
        };
        return CommGraph::from_rows(ranks_.size(), add_row, {}, 1);
    }
    /// The indices of the nodes that hold these ranks.
    [[nodiscard]] std::vector<std::uint32_t> list_nodes(std::span<const Rank> ranks) const {
        std::vector<std::uint32_t> nodes;
        for (const Rank u : ranks) nodes.push_back(places_[u.value].node);
        std::ranges::sort(nodes);
        nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
        return nodes;
    }
    /// The slots of the ranks if group i is on node nodes[i].
    [[nodiscard]] std::vector<Slot> expand(std::span<const std::uint32_t> nodes,
                                           std::span<const std::vector<Slot>> slots) const {
        std::vector<Slot> expanded;
        for (const Place& place : places_) expanded.push_back(slots[nodes[place.node]][place.slot]);
        return expanded;
    }

   private:
    struct Place {
        std::uint32_t node = 0;
        std::uint32_t slot = 0;
    };
    std::vector<std::vector<Rank>> ranks_;  // by node
    std::vector<Place> places_;             // by rank
};

std::vector<const CommGraph*> list_pointers(std::span<const CommGraph> graphs) {
    std::vector<const CommGraph*> pointers;
    for (const CommGraph& graph : graphs) pointers.push_back(&graph);
    return pointers;
}

/// The position of each slot in `all`.
std::vector<std::uint32_t> list_positions(std::span<const Slot> slots, std::span<const Slot> all) {
    std::vector<std::uint32_t> position(std::ranges::max(all, {}, &Slot::value).value + 1);
    for (std::uint32_t i = 0; i < all.size(); ++i) position[all[i].value] = i;
    std::vector<std::uint32_t> positions;
    for (const Slot slot : slots) positions.push_back(position[slot.value]);
    return positions;
}

}  // namespace

bool can_exchange_nodes(const Allocation& allocation) {
    const std::size_t nodes = allocation.nodes().size();
    if (nodes < 3 || allocation.slot_count() <= nodes) return false;
    return have_equal_sizes(list_slots_by_node(allocation));
}

Placement exchange_nodes(const Problem& problem, Placement start, Meter& meter, std::uint32_t sweeps) {
    const Allocation& allocation = problem.allocation();
    if (!can_exchange_nodes(allocation)) return start;
    if (!charge_step(meter, problem.rank_count() + problem.graph().edge_count())) return start;
    const std::vector<std::vector<Slot>> slots = list_slots_by_node(allocation);
    const NodeGroups groups(start, slots, problem.machine().slot_count());
    const PhasedObjective objective = problem.link_objective();
    std::vector<CommGraph> phases;
    for (const CommGraph* const phase : objective.phases) phases.push_back(groups.contract(*phase));
    const CommGraph sum = phases.size() == 1 ? phases.front() : groups.contract(problem.graph());
    std::vector<Slot> first_slots;
    for (const std::vector<Slot>& of_node : slots) first_slots.push_back(of_node.front());
    const Allocation nodes = Allocation::of_slots(problem.machine(), first_slots);
    std::vector<FixedRank> fixed;
    for (const std::uint32_t node : groups.list_nodes(problem.fixed().ranks()))
        fixed.emplace_back(Rank{node}, first_slots[node]);
    const Problem contracted =
        Problem(sum, nodes, problem.seed(), 1)
            .with_fixed(FixedRanks(slots.size(), fixed))
            .with_objective(objective.mix.is(ObjectiveKind::time) ? objective_of(ObjectiveKind::congestion)
                                                                  : objective.mix,
                            list_pointers(phases), objective.background);
    const Placement found =
        anneal_links(contracted, Placement(nodes, first_slots), meter, {.sweeps = sweeps});
    return {allocation, groups.expand(list_positions(found.slots(), first_slots), slots)};
}

}  // namespace topoloom::links
