// SPDX-License-Identifier: BSD-3-Clause
// Mappers: constructors and improvers of placements, and chains of them selected by name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/option.hpp"
#include "topoloom/place/problem.hpp"

namespace topoloom {

/// Creates a placement from scratch. When the meter runs out, it finishes as cheaply as possible.
using Constructor = std::function<Placement(const Problem&, Meter&)>;
/// Returns a placement that is at least as good as the given one.
using Improver = std::function<Placement(const Problem&, Placement, Meter&)>;

/// The slot occupancy that a mapper supports: one rank per slot, shared slots, or both.
enum class Occupancy { alone, shared, both };

/// The quantity that a mapper minimizes: hop_bytes, whatever the objective; links (the objective if it is on
/// links, else congestion); or the problem's objective.
enum class SearchObjective { hop_bytes, links, objective };

/// The description of a mapper.
struct MapperInfo {
    std::string_view name;
    std::string_view summary;
    std::string_view source = {};  // paper and section; empty for well-known methods
    std::string_view needs;        // required inputs
    Occupancy occupancy = Occupancy::alone;
    SearchObjective minimizes = SearchObjective::hop_bytes;
};

/// One line of the registry, created by mapper_entry(). Exactly one of the two factories is set.
struct MapperEntry : MapperInfo {
    Constructor (*make_constructor)(std::string_view name, const OptionValues&) = nullptr;
    Improver (*make_improver)(std::string_view name, const OptionValues&) = nullptr;
    std::vector<OptionInfo> (*options)() = nullptr;

    [[nodiscard]] bool is_constructor() const { return make_constructor != nullptr; }
};

/// All mappers, in display order.
[[nodiscard]] const std::vector<MapperEntry>& mappers();

struct PlaceResult {
    Placement placement;
    std::uint64_t work;            // candidates evaluated
    bool exhausted;                // whether the budget ended the search
    std::optional<double> proven;  // a proven lower bound of the objective
    /// The best placement by an automatically chosen objective, if `auto` returned another one.
    std::optional<Rejection> rejected = {};
};

/// Runs a chain such as `mahd+swap` or `mahd+swap(reach=3)`: a constructor, then improvers. The result
/// depends on problem, seed and work budget, not on the number of threads. Throws Error if a name is unknown,
/// an option is out of range, or the chain does not start with a constructor.
[[nodiscard]] PlaceResult place(const Problem& problem, std::string_view chain, const Budget& budget = {});

/// Runs a chain as part of a larger search and charges its meter.
[[nodiscard]] Placement place(const Problem& problem, std::string_view chain, Meter& meter);

}  // namespace topoloom
