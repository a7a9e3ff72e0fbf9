// SPDX-License-Identifier: BSD-3-Clause
// Exposes link loads of schedule steps, node orders, and multicast trees to Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "machine_tree.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/allocations/allocation.hpp"
#include "topoloom/schedule/collectives/registry.hpp"
#include "topoloom/schedule/cost/steps.hpp"
#include "topoloom/schedule/orders/contention_free_order.hpp"
#include "topoloom/schedule/orders/fitted_schedules.hpp"
#include "topoloom/schedule/orders/spanning_trees.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;
using Roots = std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>>;

std::size_t check_ranks(std::size_t ranks) {
    constexpr std::size_t most = (std::size_t{1} << 31) - 1;
    if (ranks > most) fail("a step of ", ranks, " ranks; at most ", most, " are supported");
    return ranks;
}

RepeatedStep make_step(const std::vector<Pair>& messages) {
    RepeatedStep step{{}, 1};
    for (const auto& [from, to] : messages) step.step.push_back({Rank{from}, Rank{to}});
    return step;
}

std::vector<NodeMessage> list_node_messages(const RepeatedStep& step, const Ids& nodes) {
    const std::span<const Node> node_of_rank = elements<Node>(nodes, "node_of_rank");
    require_ranks(step.step, node_of_rank.size());
    std::vector<NodeMessage> messages;
    for (const auto [from, to] : step.step)
        messages.push_back({node_of_rank[from.value], node_of_rank[to.value]});
    return messages;
}

std::vector<Multicast> list_multicasts(const Roots& roots) {
    std::vector<Multicast> multicasts;
    for (const auto& [root, members] : roots)
        multicasts.push_back({Node{root}, {members.begin(), members.end()}});
    return multicasts;
}

std::vector<SpanningTree> find_disjoint_trees(const Machine& machine, const Multicast& multicast) {
    return with_topology(machine, [&](const auto& network) -> std::vector<SpanningTree> {
        if constexpr (requires { disjoint_trees(network, multicast); }) {
            return disjoint_trees(network, multicast);
        } else {
            fail("disjoint trees are for whole tori and meshes, not for '", machine.text(), "'");
        }
    });
}

std::vector<std::string_view> list_tree_kinds(const Machine& machine) {
    return with_topology(machine, [](const auto& network) -> std::vector<std::string_view> {
        if constexpr (requires { switch_trees(network, {}); }) return {"routes", "last", "least-loaded"};
        if constexpr (requires { disjoint_trees(network, {}); }) return {"routes", "disjoint"};
        return {"routes"};
    });
}

std::vector<SpanningTree> find_spanning_trees(const Machine& machine, std::string_view kind,
                                              const Roots& roots) {
    const std::vector<Multicast> multicasts = list_multicasts(roots);
    if (kind == "least-loaded" || kind == "last")
        return switch_trees(require_fat_tree(machine), multicasts,
                            kind == "last" ? ParentChoice::last : ParentChoice::least_loaded);
    if (kind != "routes" && kind != "disjoint")
        fail("no trees '", kind, "'; there are least-loaded, last, routes and disjoint");
    std::vector<SpanningTree> trees;
    for (const Multicast& multicast : multicasts) {
        if (kind == "routes") {
            trees.push_back(route_tree(machine, multicast));
        } else {
            std::ranges::move(find_disjoint_trees(machine, multicast), std::back_inserter(trees));
        }
    }
    return trees;
}

std::vector<MachineTree> find_machine_trees(const Machine& machine, std::string_view kind,
                                            const Roots& roots) {
    std::vector<MachineTree> trees;
    for (SpanningTree& tree : find_spanning_trees(machine, kind, roots))
        trees.push_back({std::move(tree), machine.shared_text()});
    return trees;
}

std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> count_link_loads(
    const Machine& machine, const std::vector<const MachineTree*>& trees) {
    std::vector<SpanningTree> plain;
    for (const MachineTree* tree : trees) {
        if (tree == nullptr) throw nb::type_error("trees must hold a SpanningTree each, not None");
        require_made_for(machine, tree->machine, "a tree");
        plain.push_back(tree->tree);
    }
    TreeLoads loads = tree_loads(machine, plain);
    return {std::move(loads.on_link), std::move(loads.on_vertex)};
}

void bind_steps(nb::module_& m) {
    nb::class_<RepeatedStep>(m, "Step", "Concurrent messages between ranks.")
        .def(
            "__init__",
            [](RepeatedStep* self, const std::vector<Pair>& messages) {
                new (self) RepeatedStep(make_step(messages));
            },
            "messages"_a, "(from, to) of each message.")
        .def_static(
            "shift",
            [](std::size_t ranks, std::size_t by) {
                return RepeatedStep{shift_step(check_ranks(ranks), by), 1};
            },
            "ranks"_a, "by"_a, "Rank r sends to r + by, wrapping at the end.")
        .def_static(
            "prefix",
            [](std::size_t ranks, std::size_t by) {
                return RepeatedStep{prefix_step(check_ranks(ranks), by), 1};
            },
            "ranks"_a, "by"_a, "Rank r sends to r xor by, if there is such a rank.")
        .def_static(
            "blocks",
            [](std::size_t ranks, const std::vector<std::uint32_t>& block_to) {
                return RepeatedStep{block_step(check_ranks(ranks), block_to), 1};
            },
            "ranks"_a, "block_to"_a, "Equal blocks of ranks send to each other, keeping their order.")
        .def_static(
            "of_schedule",
            [](std::string_view schedule, std::size_t ranks, std::string_view operation) {
                return list_schedule_steps(
                    make_schedule({parse_operation(operation), ranks, Bytes{0}, Rank{0}}, schedule));
            },
            "schedule"_a, "ranks"_a, "operation"_a = "allgather",
            "The distinct rounds of a schedule such as k-shift(k=8), in order.")
        .def_prop_ro("messages",
                     [](const RepeatedStep& s) {
                         std::vector<Pair> messages;
                         for (const auto [from, to] : s.step) messages.emplace_back(from.value, to.value);
                         return messages;
                     })
        .def_ro("rounds", &RepeatedStep::rounds, "The number of rounds that consist of this step.");

    nb::class_<Meetings>(m, "Meetings", "Contention of concurrent messages.")
        .def_ro("places", &Meetings::places,
                "Contended links, or subtrees above which links may be contended.")
        .def_ro("most", &Meetings::most, "The most messages on one link.");
    m.def(
        "meetings_any_ascent",
        [](const Machine& machine, const RepeatedStep& step, const Ids& nodes) {
            AnyUpwardRoutes ascent(require_fat_tree(machine));
            return ascent.meetings(list_node_messages(step, nodes));
        },
        "machine"_a, "step"_a, "node_of_rank"_a,
        "Computes where messages may contend on a fat tree, whichever routes they take up.");
    m.def(
        "meetings_on_routes",
        [](const Machine& machine, const RepeatedStep& step, const Ids& nodes) {
            return meetings_on_routes(machine, list_node_messages(step, nodes));
        },
        "machine"_a, "step"_a, "node_of_rank"_a,
        "Computes where messages contend on the routes of the machine.");
    m.def(
        "find_free_order",
        [](const Machine& machine, const Ids& nodes, const std::vector<RepeatedStep>& steps, bool on_routes,
           std::uint64_t work, std::uint64_t seed) {
            const FreeOrder found = find_free_order(
                machine, elements<Node>(nodes, "nodes"), steps,
                on_routes ? ContentionModel::on_routes : ContentionModel::any_ascent, work, seed);
            std::vector<std::uint32_t> order;
            for (const Node node : found.node_of_rank) order.push_back(node.value);
            return std::tuple(order, found.rounds, found.proven);
        },
        "machine"_a, "nodes"_a, "steps"_a, "on_routes"_a = false, "work"_a = 10'000'000, "seed"_a = 1,
        nb::call_guard<nb::gil_scoped_release>(),
        "Orders nodes with few contended rounds, on the routes of any machine or for any routes up a fat "
        "tree: (nodes by rank, contended rounds, whether that is proven minimal).");
    m.def(
        "with_gaps",
        [](const Machine& machine, const Ids& nodes) {
            std::vector<std::optional<std::uint32_t>> positions;
            for (const Node node : with_gaps(machine, elements<Node>(nodes, "nodes")))
                positions.push_back(node == no_node ? std::nullopt : std::optional(node.value));
            return positions;
        },
        "machine"_a, "nodes"_a,
        "Positions of nodes, None for gaps, such that exchanges with position p xor j never contend.");
    m.def(
        "fitted_schedules",
        [](const Allocation& allocation, const Placement& placement) {
            placement.require_compatible_with(allocation);
            std::vector<Node> nodes;
            for (const Slot slot : placement.slots()) nodes.push_back(allocation.machine().node(slot));
            return fitted_schedules(allocation.machine(), nodes);
        },
        "allocation"_a, "placement"_a, "Lists schedules with options for the nodes of the ranks.");
}

}  // namespace

void bind_fat_trees(nb::module_& m) {
    bind_steps(m);
    nb::class_<MachineTree>(m, "SpanningTree", "A tree of links from a root to the members of a group.")
        .def_prop_ro("root", [](const MachineTree& t) { return t.tree.root.value; })
        .def_prop_ro(
            "links",
            [](nb::handle_t<MachineTree> t) {
                return view(std::span<const Link>(nb::cast<const MachineTree&>(t).tree.links), t);
            },
            "uint32 array: the links, each after the one that leads to it.");
    m.def("tree_kinds", &list_tree_kinds, "machine"_a, "Lists the kinds of spanning_trees() for a machine.");
    m.def("spanning_trees", &find_machine_trees, "machine"_a, "kind"_a, "multicasts"_a,
          nb::call_guard<nb::gil_scoped_release>(),
          "Makes trees for (root, members). Kinds: 'least-loaded' or 'last' parents of a fat tree, "
          "'routes' of any machine, or all 'disjoint' trees of a torus.");
    m.def("tree_loads", &count_link_loads, "machine"_a, "trees"_a,
          "Counts the trees on each link, and on each switch, router or node.");
}

}  // namespace topoloom::python
