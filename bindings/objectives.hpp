// SPDX-License-Identifier: BSD-3-Clause
// Objectives that Python passes by name, with phases and background loads.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "topoloom/metric/loads/total_and_busiest_times.hpp"
#include "topoloom/metric/objective.hpp"
#include "topoloom/place/capacity.hpp"
#include "topoloom/place/portfolio/objective_choice.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom::python {

/// An objective selected by name; no value for auto, which depends on the problem.
struct NamedObjective {
    std::string name;
    std::optional<Objective> value;

    explicit NamedObjective(std::string text);
    friend bool operator==(const NamedObjective& a, const NamedObjective& b) { return a.name == b.name; }
};

/// An argument from Python: an Objective, or its name.
using ObjectiveOrName = std::variant<NamedObjective, std::string>;

[[nodiscard]] NamedObjective resolve_objective(const ObjectiveOrName& objective);

/// An objective, the phases on which it is evaluated, and background loads, which this object owns.
class ObjectiveInput {
   public:
    ObjectiveInput(NamedObjective objective, std::vector<const CommGraph*> phases,
                   const std::optional<Numbers>& background);

    [[nodiscard]] Problem at(const Problem& problem) const;
    /// The objective for placements that use slots in this way (one rank per slot, or shared).
    [[nodiscard]] PhasedObjective for_slot_use(const CommGraph& graph, const Allocation& allocation,
                                               SlotUse use) const;
    [[nodiscard]] double value(const CommGraph& graph, const Allocation& allocation,
                               const Placement& placement) const;
    /// The predicted times; 0 without bandwidths.
    [[nodiscard]] TotalAndBusiestTimes times(const Machine& machine, const CommGraph& graph,
                                             const Placement& placement) const;
    [[nodiscard]] ObjectiveChoice choose(const Problem& problem) const;

   private:
    [[nodiscard]] PhasedObjective measured(const CommGraph& graph, const Objective& mix) const;

    NamedObjective objective_;
    std::vector<const CommGraph*> phases_;
    std::vector<double> background_;
};

}  // namespace topoloom::python
