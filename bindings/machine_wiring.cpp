// SPDX-License-Identifier: BSD-3-Clause
// Exposes the wiring of a machine as arrays, and its bisection, to Python.
#include "arrays.hpp"
#include "bindings.hpp"
#include "topoloom/choose/machine_bisection.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/machine/network_view.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

struct Wiring {
    std::size_t vertex_count = 0;
    std::vector<std::uint32_t> vertex;  // of nodes
    std::vector<std::uint32_t> from;    // of links
    std::vector<std::uint32_t> to;
    std::vector<double> bandwidth;
};

Wiring list_wiring(const Machine& machine) {
    const NetworkView network(machine.topology());
    Wiring wiring{network.vertex_count(), {}, {}, {}, {}};
    for (const Node node : ids<Node>(network.node_count())) wiring.vertex.push_back(network.vertex(node));
    for (const Link link : ids<Link>(network.link_count())) {
        if (!network.is_up(link)) continue;
        const LinkEnds ends = network.ends(link);
        wiring.from.push_back(ends.from);
        wiring.to.push_back(ends.to);
        wiring.bandwidth.push_back(network.bandwidth(link).value);
    }
    return wiring;
}

template <auto member>
auto array(nb::handle_t<Wiring> wiring) {
    const auto& values = nb::cast<const Wiring&>(wiring).*member;
    using Element = typename std::decay_t<decltype(values)>::value_type;
    return view(std::span<const Element>(values), wiring);
}

}  // namespace

void bind_wiring(nb::module_& m) {
    nb::class_<Wiring>(
        m, "Wiring",
        "The links of a machine that are up, as arrays; vertices are routers, switches or nodes.")
        .def(
            "__init__", [](Wiring* self, const Machine& machine) { new (self) Wiring(list_wiring(machine)); },
            "machine"_a)
        .def_ro("vertex_count", &Wiring::vertex_count)
        .def_prop_ro("vertex", &array<&Wiring::vertex>,
                     "uint32 array (nodes,): the vertex that each node is attached to.")
        .def_prop_ro("link_from", &array<&Wiring::from>,
                     "uint32 array (links,): the vertex that each link leaves.")
        .def_prop_ro("link_to", &array<&Wiring::to>,
                     "uint32 array (links,): the vertex that each link enters.")
        .def_prop_ro("bandwidth", &array<&Wiring::bandwidth>,
                     "float64 array (links,): bytes per second of each link.");

    nb::class_<MachineBisection>(
        m, "Bisection",
        "The bisection bandwidth of a machine: a lower bound, and a bisection that was found.")
        .def_prop_ro(
            "at_least", [](const MachineBisection& b) { return b.at_least.value; },
            "Lower bound for all bisections, in bytes per second of both directions together.")
        .def_prop_ro(
            "at_most", [](const MachineBisection& b) { return b.at_most.value; },
            "The bandwidth of the bisection that was found.")
        .def_ro("link_count", &MachineBisection::link_count,
                "Directed links between the halves that were found.")
        .def_prop_ro("exact", &MachineBisection::is_exact, "Whether both are equal.");
    m.def("bisect_machine", &bisect_machine, "machine"_a, "seed"_a = 1,
          nb::call_guard<nb::gil_scoped_release>(),
          "Finds a bisection of the nodes with little bandwidth, and a lower bound for all bisections.");
}

}  // namespace topoloom::python
