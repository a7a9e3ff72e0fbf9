// SPDX-License-Identifier: BSD-3-Clause
// What Python says as values: the objective of a search, and how ranks may share slots.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <variant>

#include "arrays.hpp"
#include "topoloom/metric/objective.hpp"
#include "topoloom/place/capacity.hpp"

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

}  // namespace topoloom::python
