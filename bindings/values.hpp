// SPDX-License-Identifier: BSD-3-Clause
// What Python says as values: the objective of a search, what it is measured on, and how ranks may share slots.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "topoloom/metric/objective.hpp"
#include "topoloom/place/capacity.hpp"
#include "topoloom/place/portfolio/objective_choice.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom::python {

/// An objective by its name; no value: the one that suits the problem.
struct NamedObjective {
    std::string name;
    std::optional<Objective> value;

    explicit NamedObjective(std::string text);
    friend bool operator==(const NamedObjective& a, const NamedObjective& b) { return a.name == b.name; }
};

/// What callers may give.
using ObjectiveOrName = std::variant<NamedObjective, std::string>;

[[nodiscard]] NamedObjective named(const ObjectiveOrName& objective);

/// An objective on what it is measured on. Holds the background that others refer to.
class Measured {
   public:
    Measured(NamedObjective objective, std::vector<const CommGraph*> phases,
             const std::optional<Numbers>& background);

    [[nodiscard]] Problem at(const Problem& problem) const;
    /// As it counts for placements whose slots are used so.
    [[nodiscard]] MeasuredObjective for_use(const CommGraph& graph, const Allocation& allocation,
                                            SlotUse use) const;
    [[nodiscard]] double value(const CommGraph& graph, const Allocation& allocation,
                               const Placement& placement) const;
    [[nodiscard]] double time(const Machine& machine, const CommGraph& graph,
                              const Placement& placement) const;
    [[nodiscard]] ObjectiveChoice choose(const Problem& problem) const;

   private:
    [[nodiscard]] MeasuredObjective measured(const CommGraph& graph, const Objective& mix) const;

    NamedObjective objective_;
    std::vector<const CommGraph*> phases_;
    std::vector<double> background_;
};

}  // namespace topoloom::python
