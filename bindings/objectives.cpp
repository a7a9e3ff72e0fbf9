// SPDX-License-Identifier: BSD-3-Clause
// Exposes objectives and slot sharing to Python.
#include "objectives.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "bindings.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/pattern/phase_sum.hpp"

namespace topoloom::python {

using namespace nb::literals;

NamedObjective::NamedObjective(std::string text) : name(std::move(text)) {
    if (name != "auto") value = parse_objective(name);
}

NamedObjective resolve_objective(const ObjectiveOrName& objective) {
    if (const auto* const text = std::get_if<std::string>(&objective)) return NamedObjective(*text);
    return std::get<NamedObjective>(objective);
}

ObjectiveInput::ObjectiveInput(NamedObjective objective, std::vector<const CommGraph*> phases,
                               const std::optional<Numbers>& background)
    : objective_(std::move(objective)), phases_(std::move(phases)) {
    if (std::ranges::count(phases_, nullptr) > 0)
        throw nb::type_error("phases must hold a CommGraph each, not None");
    if (background) background_ = copy_elements<double>(*background, "background");
}

Problem ObjectiveInput::at(const Problem& problem) const {
    require_phases_add_up(phases_, problem.graph());
    if (objective_.value) return problem.with_objective(*objective_.value, phases_, background_);
    return problem.with_objective(objective_of(choose(problem).objective), phases_, background_)
        .with_automatic_objective();
}

PhasedObjective ObjectiveInput::for_slot_use(const CommGraph& graph, const Allocation& allocation,
                                             SlotUse use) const {
    if (use == SlotUse::one_rank) {
        const Problem problem = at(Problem(graph, allocation));
        return problem.is_for_hop_bytes() ? measured(graph, objective_of(ObjectiveKind::hop_bytes))
                                          : problem.link_objective();
    }
    require_phases_add_up(phases_, graph);
    require_exact_hop_bytes(graph, allocation.machine());
    // Placements with shared slots support only hop-bytes.
    const Objective objective = objective_.value.value_or(objective_of(ObjectiveKind::hop_bytes));
    if (objective.relative)
        fail(
            "a mix is relative to block placement with one rank per slot; give a single objective "
            "for a placement with shared slots");
    require_times(allocation.machine(), objective);
    return measured(graph, objective);
}

double ObjectiveInput::value(const CommGraph& graph, const Allocation& allocation,
                             const Placement& placement) const {
    const Machine& machine = allocation.machine();
    require_placed(graph, machine, placement.slots());
    const PhasedObjective objective = for_slot_use(graph, allocation, placement.use());
    if (objective.mix.is(ObjectiveKind::hop_bytes))
        return static_cast<double>(hop_bytes(graph, machine, placement.slots()));
    return objective_key(machine, objective, placement.slots()).congestion;
}

TotalAndBusiestTimes ObjectiveInput::times(const Machine& machine, const CommGraph& graph,
                                           const Placement& placement) const {
    require_placed(graph, machine, placement.slots());
    require_phases_add_up(phases_, graph);
    if (!machine.has_bandwidths()) return {};
    return total_and_busiest_times(machine, measured(graph, objective_of(ObjectiveKind::time)),
                                   placement.slots());
}

ObjectiveChoice ObjectiveInput::choose(const Problem& problem) const {
    require_phases_add_up(phases_, problem.graph());
    return choose_objective(problem, phases_, background_);
}

PhasedObjective ObjectiveInput::measured(const CommGraph& graph, const Objective& mix) const {
    PhasedObjective objective{.mix = mix, .phases = phases_, .background = background_};
    if (objective.phases.empty()) objective.phases.push_back(&graph);
    return objective;
}

namespace {

NamedObjective make_weighted(double hop_bytes, double congestion, double congestion_soft, double time) {
    std::string parts;
    const auto add = [&](ObjectiveKind kind, double weight) {
        if (weight == 0) return;
        char digits[32];
        const char* const end = std::to_chars(digits, digits + sizeof digits, weight).ptr;
        if (!parts.empty()) parts += ',';
        parts.append(name_of(kind)).append("=").append(static_cast<const char*>(digits), end);
    };
    add(ObjectiveKind::hop_bytes, hop_bytes);
    add(ObjectiveKind::congestion, congestion);
    add(ObjectiveKind::soft, congestion_soft);
    add(ObjectiveKind::time, time);
    return NamedObjective("weighted(" + parts + ")");
}

struct NamedConstant {
    const char* attribute;
    const char* name;
    const char* help;
};

constexpr std::array constants{
    NamedConstant{"auto", "auto", "The objective that choose_objective() selects for the problem."},
    NamedConstant{"hop_bytes", "hop-bytes", "Bytes times distance."},
    NamedConstant{"congestion", "congestion", "Seconds of the busiest link."},
    NamedConstant{"congestion_soft", "congestion-soft", "Congestion with a smooth maximum over all links."},
    NamedConstant{"time", "time", "Predicted seconds, including startups and latencies."},
};

void bind_objective(nb::module_& m) {
    auto objective = nb::class_<NamedObjective>(m, "Objective",
                                                "The objective of a search, such as `Objective.congestion`.");
    objective
        .def(nb::init<std::string>(), "name"_a,
             "Makes it from its name: auto, hop-bytes, congestion, congestion-soft, time, or a mix such as\n"
             "weighted(hop-bytes=1,congestion=2).")
        .def_static("weighted", &make_weighted, nb::kw_only(), "hop_bytes"_a = 0.0, "congestion"_a = 0.0,
                    "congestion_soft"_a = 0.0, "time"_a = 0.0,
                    "A weighted mix; each objective is relative to its value for block placement.")
        .def_ro("name", &NamedObjective::name)
        .def(
            "__eq__",
            [](const NamedObjective& a, nb::handle b) {
                return nb::isinstance<NamedObjective>(b) && a == nb::cast<const NamedObjective&>(b);
            },
            "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](const NamedObjective& o) { return std::hash<std::string>()(o.name); })
        .def("__str__", [](const NamedObjective& o) { return o.name; })
        .def("__repr__", [](const NamedObjective& o) { return "Objective('" + o.name + "')"; })
        .def(
            "__reduce__",
            [](const nb::object& self) {
                return nb::make_tuple(self.type(), nb::make_tuple(self.attr("name")));
            },
            nb::sig("def __reduce__(self) -> tuple[object, ...]"));
    // Constants are created on access, because an instance stored in its own type would never be freed.
    for (const NamedConstant& constant : constants) {
        objective.def_prop_ro_static(
            constant.attribute, [name = constant.name](nb::handle) { return NamedObjective(name); },
            constant.help);
    }
}

void bind_sharing(nb::module_& m) {
    nb::class_<Sharing>(m, "Sharing", "Capacities of slots that ranks share.")
        .def(
            "__init__",
            [](Sharing* self, std::optional<double> imbalance, const std::optional<Numbers>& capacities) {
                new (self) Sharing{.imbalance = imbalance};
                if (!capacities) return;
                self->capacity = copy_elements<double>(*capacities, "capacities");
                if (self->capacity.empty())
                    fail("there are no capacities; give one for each slot of the allocation");
            },
            "imbalance"_a = nb::none(), "capacities"_a = nb::none(),
            "Where ranks outnumber slots, a slot holds up to (1 + imbalance) times its share of the load;\n"
            "or capacities give the load that each slot of the allocation may hold.")
        .def_ro("imbalance", &Sharing::imbalance)
        .def_ro("capacities", &Sharing::capacity, "The capacity of each slot; empty: equal shares.")
        .def("__repr__",
             [](const Sharing& s) {
                 const auto imbalance = nb::repr(nb::cast(s.imbalance));
                 const std::string capacities =
                     s.capacity.empty() ? ""
                                        : ", capacities of " + std::to_string(s.capacity.size()) + " slots";
                 return "Sharing(imbalance=" + std::string(imbalance.c_str()) + capacities + ")";
             })
        .def(
            "__reduce__",
            [](const nb::object& self) {
                nb::object capacities = self.attr("capacities");
                if (nb::len(capacities) == 0) capacities = nb::none();
                return nb::make_tuple(self.type(), nb::make_tuple(self.attr("imbalance"), capacities));
            },
            nb::sig("def __reduce__(self) -> tuple[object, ...]"));
}

}  // namespace

void bind_objectives(nb::module_& m) {
    bind_objective(m);
    bind_sharing(m);
}

}  // namespace topoloom::python
