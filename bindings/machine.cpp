// SPDX-License-Identifier: BSD-3-Clause
// Exposes machines, allocations and placements to Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call_python.hpp"
#include "machines/machine_methods.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/machine/allocations/compact_nodes.hpp"
#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/allocations/territory.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/metric/allocation_shape.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

template <class I>
I check_id(std::uint32_t id, std::size_t count, const char* kind) {
    if (id >= count) fail(kind, " ", id, " does not exist: the machine has ", count);
    return I{id};
}

Node node_of(const Machine& m, std::uint32_t id) { return check_id<Node>(id, m.node_count(), "node"); }
Slot slot_of(const Machine& m, std::uint32_t id) { return check_id<Slot>(id, m.slot_count(), "slot"); }
Link link_of(const Machine& m, std::uint32_t id) { return check_id<Link>(id, m.link_count(), "link"); }

std::vector<std::pair<std::uint32_t, double>> route(const Machine& m, std::uint32_t a, std::uint32_t b) {
    m.require_connected(node_of(m, a), node_of(m, b));
    std::vector<std::pair<std::uint32_t, double>> links;
    NetworkView(m.topology()).route(Node{a}, Node{b}, [&](Link link, double share) {
        links.emplace_back(link.value, share);
    });
    return links;
}

std::uint32_t hops(const Machine& m, std::uint32_t a, std::uint32_t b) {
    m.require_connected(node_of(m, a), node_of(m, b));
    return m.hops(Node{a}, Node{b});
}

std::uint32_t distance(const Machine& m, std::uint32_t a, std::uint32_t b) {
    m.require_connected(m.node(slot_of(m, a)), m.node(slot_of(m, b)));
    return m.distance(Slot{a}, Slot{b});
}

bool are_connected(const Machine& m, std::uint32_t a, std::uint32_t b) {
    return m.connected(node_of(m, a), node_of(m, b));
}

/// Applies `one` to each pair of elements of two equally long arrays; a single number is paired with each
/// element of the other array.
template <auto one>
nb::object apply_to_pairs(const Machine& m, const Ids& a, const Ids& b, const char* name_a,
                          const char* name_b) {
    const std::span<const std::uint32_t> from = a.values(name_a);
    const std::span<const std::uint32_t> to = b.values(name_b);
    if (a.is_single() && b.is_single()) return nb::cast(one(m, from[0], to[0]));
    if (!a.is_single() && !b.is_single() && from.size() != to.size())
        fail(name_a, " has ", from.size(), " entries, but ", name_b, " has ", to.size(),
             "; give equally many");
    using Answer = decltype(one(m, 0, 0));
    std::vector<std::conditional_t<std::is_same_v<Answer, bool>, std::uint8_t, Answer>> answers(
        a.is_single() ? to.size() : from.size());
    for (std::size_t i = 0; i < answers.size(); ++i)
        answers[i] = one(m, from[a.is_single() ? 0 : i], to[b.is_single() ? 0 : i]);
    const nb::object array = new_array(std::move(answers));
    return std::is_same_v<Answer, bool> ? array.attr("view")("bool") : array;
}

std::uint32_t nodes_per_host(const Machine& m) {
    const NetworkView network(m.topology());
    std::uint32_t count = 1;
    while (count < m.node_count() && network.host(Node{count}) == 0) ++count;
    return count;
}

Allocation make_allocation(const Machine& m, const Ids& nodes, const std::optional<Ids>& slots) {
    Allocation of_nodes(m, copy_elements<Node>(nodes, "nodes"));
    if (!slots) return of_nodes;
    Allocation of_slots = Allocation::of_slots(m, copy_elements<Slot>(*slots, "slots"));
    if (!std::ranges::equal(of_slots.nodes(), of_nodes.nodes()))
        fail("the allocation's slots are not on its nodes, in their order");
    return of_slots;
}

}  // namespace

void bind_machine(nb::module_& module) {
    nb::class_<Machine> machine_class(module, "Machine",
                                      "A network and its nodes, from a machine text such as torus:8x8x8.");
    machine_class
        .def(
            "__init__",
            [](Machine* self, std::string_view text, const std::vector<std::string>& remarks) {
                new (self) Machine(make_machine(text));
                for (const std::string& remark : remarks) self->add_remark(remark);
            },
            "text"_a, "remarks"_a = std::vector<std::string>{})
        .def_prop_ro("text", &Machine::text)
        .def_prop_ro("name", &Machine::describe)
        .def_prop_ro("node_count", &Machine::node_count)
        .def_prop_ro("slots_per_node", &Machine::slots_per_node)
        .def_prop_ro("nodes_per_host", &nodes_per_host,
                     "The number of consecutive nodes in a host: its GPUs on rails, otherwise 1.")
        .def_prop_ro("slot_count", &Machine::slot_count)
        .def_prop_ro(
            "levels", [](const Machine& m) { return m.node_spec().levels.arity(); },
            "Arities of the levels inside a node, bottom-up.")
        .def_prop_ro(
            "has_failures",
            [](const Machine& m) { return std::holds_alternative<DegradedTopology>(m.topology()); },
            "Whether nodes, routers or links are down.")
        .def_prop_ro("link_count", &Machine::link_count)
        .def_prop_ro(
            "nodes_up",
            [](const Machine& m) {
                std::vector<std::uint32_t> up;
                for (const Node node : m.usable_nodes()) up.push_back(node.value);
                return new_array(std::move(up));
            },
            nb::sig("def nodes_up(self) -> numpy.typing.NDArray[numpy.uint32]"),
            "The nodes that are not down, ascending.")
        .def("connected", &are_connected, "node_a"_a, "node_b"_a,
             "Whether both nodes are up and failures leave a route from the first to the second.")
        .def(
            "connected",
            [](const Machine& m, const Ids& a, const Ids& b) {
                return apply_to_pairs<are_connected>(m, a, b, "node_a", "node_b");
            },
            "node_a"_a, "node_b"_a,
            nb::sig(
                "def connected(self, node_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], node_b: "
                "numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> "
                "numpy.typing.NDArray[numpy.bool_]"),
            "The same for arrays of equal length, pair by pair.")
        .def("distance", &distance, "slot_a"_a, "slot_b"_a, "The distance in hop-bytes.")
        .def(
            "distance",
            [](const Machine& m, const Ids& a, const Ids& b) {
                return apply_to_pairs<distance>(m, a, b, "slot_a", "slot_b");
            },
            "slot_a"_a, "slot_b"_a,
            nb::sig("def distance(self, slot_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], slot_b: "
                    "numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> "
                    "numpy.typing.NDArray[numpy.uint32]"),
            "The same for arrays of equal length, pair by pair.")
        .def("hops", &hops, "node_a"_a, "node_b"_a, "The number of links on the route.")
        .def(
            "hops",
            [](const Machine& m, const Ids& a, const Ids& b) {
                return apply_to_pairs<hops>(m, a, b, "node_a", "node_b");
            },
            "node_a"_a, "node_b"_a,
            nb::sig("def hops(self, node_a: numpy.typing.NDArray[numpy.integer] | Sequence[int], node_b: "
                    "numpy.typing.NDArray[numpy.integer] | Sequence[int]) -> "
                    "numpy.typing.NDArray[numpy.uint32]"),
            "The same for arrays of equal length, pair by pair.")
        .def(
            "coordinates", [](const Machine& m, std::uint32_t n) { return m.coordinates(node_of(m, n)); },
            "node"_a)
        .def(
            "node_at",
            [](const Machine& m, const std::vector<std::uint32_t>& at) { return m.node_at(at).value; },
            "coordinates"_a)
        .def_prop_ro(
            "shape", [](const Machine& m) { return m.has_grid() ? m.grid() : std::vector<std::uint32_t>{}; },
            "Extents of a torus or mesh; the last axis varies fastest. Empty for other networks.")
        .def_prop_ro("wraps", [](const Machine& m) { return m.has_grid() ? m.wraps() : std::vector<bool>{}; })
        .def("route", &route, "node_a"_a, "node_b"_a, "(link, share) in the order of the route.")
        .def(
            "link_name",
            [](const Machine& m, std::uint32_t l) {
                return NetworkView(m.topology()).link_name(link_of(m, l));
            },
            "link"_a)
        .def(
            "link_ends",
            [](const Machine& m, std::uint32_t l) {
                const LinkEnds ends = NetworkView(m.topology()).ends(link_of(m, l));
                return std::pair(ends.from, ends.to);
            },
            "link"_a, "The vertices (from, to); routers of a grid are numbered row-major.")
        .def(
            "bandwidth",
            [](const Machine& m, std::uint32_t l) {
                return NetworkView(m.topology()).bandwidth(link_of(m, l)).value;
            },
            "link"_a, "The bandwidth in bytes per second.")
        .def(
            "latency",
            [](const Machine& m, std::uint32_t l) {
                return NetworkView(m.topology()).latency(link_of(m, l)).value;
            },
            "link"_a, "The latency in seconds.")
        .def_prop_ro(
            "port_bandwidth", [](const Machine& m) { return m.node_spec().port_bandwidth.value; },
            "Bandwidth of a node's network port in each direction, bytes per second; inf: unlimited.")
        .def_prop_ro(
            "memory_bandwidth", [](const Machine& m) { return m.speeds().memory.value; },
            "Memory bandwidth of a node for reads and for writes, bytes per second; inf: unlimited.")
        .def_prop_ro(
            "startup", [](const Machine& m) { return m.speeds().startup.value; },
            "Sender overhead of an inter-node message, seconds.")
        .def_prop_ro(
            "node_latency", [](const Machine& m) { return m.speeds().latency.value; },
            "Latency of an inter-node message without startup and links, seconds.")
        .def_prop_ro(
            "memory_startup", [](const Machine& m) { return m.speeds().memory_startup.value; },
            "Sender overhead of an intra-node message, seconds.")
        .def_prop_ro(
            "assumed_speeds",
            [](const Machine& m) {
                const NodeSpec& node = m.node_spec();
                std::vector<std::string> assumed;
                if (!node.startup) assumed.emplace_back("startup");
                if (!node.startup && !node.latency) assumed.emplace_back("node_latency");
                if (!node.memory) assumed.emplace_back("memory_bandwidth");
                if (!node.memory_startup) assumed.emplace_back("memory_startup");
                return assumed;
            },
            "Which of startup, node_latency, memory_bandwidth and memory_startup are assumed.")
        .def_prop_ro("has_bandwidths", &Machine::has_bandwidths,
                     "Whether bandwidths are known. If so, loads are times; otherwise, bytes.")
        .def_prop_ro("distances_are_hops", &Machine::distances_are_hops,
                     "Whether all distances are hops: no hop has a weight, and distances inside nodes are 0.")
        .def_prop_ro(
            "host_hops", [](const Machine& m) { return NetworkView(m.topology()).host_hops(); },
            "Links between a node and its router; 0 if a node is its router, or in trees.")
        .def_prop_ro("remarks", &Machine::remarks,
                     "Assumptions about the machine and oddities in its description, one line each.")
        .def(
            "summary",
            [](const Machine& m) {
                nb::dict facts;
                facts["network"] = m.describe();
                facts["diameter"] = NetworkView(m.topology()).diameter();
                facts["average_distance"] = m.average_distance();
                return facts;
            },
            nb::sig("def summary(self) -> dict[str, object]"))
        .def("_repr_html_", html_repr<Machine>("machine_html"));
    add_machine_arrays(machine_class);

    nb::class_<Allocation> allocation_class(module, "Allocation", "The slots of a job, in launcher order.");
    allocation_class
        .def(
            "__init__",
            [](Allocation* self, const Machine& machine, const Ids& nodes, const std::optional<Ids>& slots) {
                new (self) Allocation(make_allocation(machine, nodes, slots));
            },
            "machine"_a, "nodes"_a, "slots"_a = nb::none(), nb::keep_alive<1, 2>(),
            "Parameters\n"
            "----------\n"
            "machine : Machine\n"
            "nodes : array of int\n"
            "    Numbers of nodes, in the order in which the launcher fills them.\n"
            "slots : array of int, default all slots of the nodes\n"
            "    Numbers of slots of the machine, those of the first node first.\n\n"
            "Raises\n"
            "------\n"
            "topoloom.Error\n"
            "    For nodes or slots that do not exist or come twice, that are down, or that failures cut "
            "off.")
        .def_static("whole", &Allocation::whole, "machine"_a, nb::keep_alive<0, 1>())
        .def_prop_ro("machine", &Allocation::machine, nb::rv_policy::reference_internal)
        .def_prop_ro(
            "nodes",
            [](nb::handle_t<Allocation> a) { return view(nb::cast<const Allocation&>(a).nodes(), a); })
        .def_prop_ro(
            "slots",
            [](nb::handle_t<Allocation> a) { return view(nb::cast<const Allocation&>(a).slots(), a); })
        .def_prop_ro("slot_count", &Allocation::slot_count)
        .def_prop_ro("average_distance", &average_distance,
                     "The average distance over ordered pairs of different nodes.")
        .def(
            "components",
            [](const Allocation& a) {
                const Territory territory(a);
                return std::vector<std::uint32_t>(territory.component_of_node().begin(),
                                                  territory.component_of_node().end());
            },
            "By node: the connected component of the network that it belongs to.");
    module.def("fragmented_allocation", &fragmented_allocation, "machine"_a, "node_count"_a, "fragments"_a,
               "seed"_a = 1, nb::keep_alive<0, 1>(),
               "Makes a fragmented allocation as schedulers do: boxes, planes and lines.");

    module.def(
        "compact_nodes",
        [](const Allocation& free, std::size_t count, std::uint64_t seed) {
            return Allocation(free.machine(), compact_nodes(free, count, seed));
        },
        "free"_a, "count"_a, "seed"_a = 1, nb::keep_alive<0, 1>(), nb::call_guard<nb::gil_scoped_release>(),
        "Chooses this number of free nodes that are close together.");

    nb::class_<Placement> placement_class(module, "Placement",
                                          "rank -> slot; a placement that exists is valid.");
    placement_class
        .def(
            "__init__",
            [](Placement* self, const Allocation& allocation, const Ids& slots, bool shared) {
                new (self) Placement(allocation, copy_elements<Slot>(slots, "slots"),
                                     shared ? SlotUse::shared : SlotUse::one_rank);
            },
            "allocation"_a, "slots"_a, "shared"_a = false,
            "Parameters\n"
            "----------\n"
            "allocation : Allocation\n"
            "slots : array of int, shape (ranks,)\n"
            "    The slot of the machine that each rank gets.\n"
            "shared : bool, default False\n"
            "    Whether several ranks may sit on one slot.\n\n"
            "Raises\n"
            "------\n"
            "topoloom.Error\n"
            "    For slots that are not part of the allocation, and, unless shared, those that come twice.")
        .def_prop_ro("machine_text", &Placement::machine_text,
                     "The text of the machine for which it was made.")
        .def_prop_ro(
            "shared", [](const Placement& p) { return p.use() == SlotUse::shared; },
            "Whether several ranks may sit on one slot.")
        .def_prop_ro(
            "slots", [](nb::handle_t<Placement> p) { return view(nb::cast<const Placement&>(p).slots(), p); },
            "uint32 array (ranks,): the slot of each rank.");
    add_value_semantics(machine_class, allocation_class, placement_class);
}

}  // namespace topoloom::python
