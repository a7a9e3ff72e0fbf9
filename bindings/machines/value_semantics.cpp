// SPDX-License-Identifier: BSD-3-Clause
// Makes machines, allocations and placements comparable, printable and picklable in Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "machines/machine_methods.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "value_semantics.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

Machine restore_machine(const std::string& text, const std::vector<std::string>& remarks) {
    Machine machine = make_machine(text);
    for (const std::string& remark : remarks) {
        if (std::ranges::find(machine.remarks(), remark) == machine.remarks().end())
            machine.add_remark(remark);
    }
    return machine;
}

std::string make_repr(const Machine& machine) {
    constexpr std::size_t longest = 200;
    if (machine.text().size() <= longest) return "Machine('" + machine.text() + "')";
    return "Machine('" + truncate_text(machine.text()) + "': " + machine.describe() + ")";
}

std::string make_repr(const Allocation& allocation) {
    return "Allocation(" + std::to_string(allocation.nodes().size()) + " nodes, " +
           std::to_string(allocation.slot_count()) + " slots of '" +
           truncate_text(allocation.machine().text()) + "')";
}

std::string make_repr(const Placement& placement) {
    return "Placement(" + std::to_string(placement.rank_count()) + " ranks on '" +
           truncate_text(placement.machine_text()) + "'" +
           (placement.use() == SlotUse::shared ? ", shared slots)" : ")");
}

}  // namespace

void add_value_semantics(nb::class_<Machine>& machine, nb::class_<Allocation>& allocation,
                         nb::class_<Placement>& placement) {
    machine.def("__repr__", [](const Machine& m) { return make_repr(m); })
        .def_static("_restored", &restore_machine, "text"_a, "remarks"_a);
    add_equality(
        machine, [](const Machine& a, const Machine& b) { return a.text() == b.text(); },
        [](const Machine& m) { return hash_of_parts(m.text()); });
    add_pickling(machine, "Machine", [](const nb::object& self, const Machine&, const auto& add) {
        return add(self.attr("text"), self.attr("remarks"));
    });

    allocation.def("__repr__", [](const Allocation& a) { return make_repr(a); });
    add_equality(
        allocation,
        [](const Allocation& a, const Allocation& b) {
            return a.machine().text() == b.machine().text() && std::ranges::equal(a.nodes(), b.nodes()) &&
                   std::ranges::equal(a.slots(), b.slots());
        },
        [](const Allocation& a) { return hash_of_parts(a.machine().text(), a.slots()); });
    add_pickling(allocation, "Allocation", [](const nb::object& self, const Allocation&, const auto& add) {
        return add(self.attr("machine"), self.attr("nodes"), self.attr("slots"));
    });

    placement.def("__repr__", [](const Placement& p) { return make_repr(p); })
        .def_static(
            "_restored",
            [](std::string text, const Ids& slots, bool shared) {
                return Placement::from_saved_slots(std::make_shared<const std::string>(std::move(text)),
                                                   copy_elements<Slot>(slots, "slots"),
                                                   shared ? SlotUse::shared : SlotUse::one_rank);
            },
            "machine_text"_a, "slots"_a, "shared"_a);
    add_equality(
        placement, [](const Placement& a, const Placement& b) { return a == b; },
        [](const Placement& p) { return hash_of_parts(p.machine_text(), p.slots()); });
    add_pickling(placement, "Placement", [](const nb::object& self, const Placement& p, const auto& add) {
        return add(p.machine_text(), self.attr("slots"), self.attr("shared"));
    });
}

}  // namespace topoloom::python
