// SPDX-License-Identifier: BSD-3-Clause
// Mappers: constructors that make a placement, improvers of one, and chains of them by name.
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

/// Makes a placement from nothing. When the meter runs out it finishes as cheaply as it can.
using Construct = std::function<Placement(const Problem&, Meter&)>;
/// Returns a placement that is never worse: at least the given one.
using Improve = std::function<Placement(const Problem&, Placement, Meter&)>;

/// What a mapper can place: ranks alone on their slots, ranks that share slots, or both.
enum class Serves { alone, shared, both };

/// What a mapper goes by, whatever the problem's objective: hop-bytes, what is on links (the objective, or congestion
/// where that is hop-bytes), or the objective itself.
enum class Minimizes { hop_bytes, links, objective };

/// What a mapper says about itself.
struct MapperInfo {
    std::string_view name;
    std::string_view summary;
    std::string_view source = {};  // paper and section; empty for folklore
    std::string_view needs;        // what it uses of problem and machine
    Serves serves = Serves::alone;
    Minimizes minimizes = Minimizes::hop_bytes;
};

/// One line of the registry, made by mapper_entry(). Exactly one of the two makers is set.
struct MapperEntry : MapperInfo {
    Construct (*make_construct)(std::string_view name, const OptionValues&) = nullptr;
    Improve (*make_improve)(std::string_view name, const OptionValues&) = nullptr;
    std::vector<OptionInfo> (*options)() = nullptr;

    [[nodiscard]] bool constructs() const { return make_construct != nullptr; }
};

/// All mappers, in the order in which they are shown.
[[nodiscard]] const std::vector<MapperEntry>& mappers();

struct PlaceResult {
    Placement placement;
    std::uint64_t work;            // candidates evaluated
    bool exhausted;                // the budget ended the search
    std::optional<double> proven;  // no placement has a lower value of the objective, if the search found out
};

/// Runs a chain such as `mahd,swap` or `mahd+swap(reach=3)`: a constructor, then improvers. With the same problem,
/// seed and work budget the result is the same for any number of threads.
/// Throws Error for unknown names, options out of range, and chains that do not start with a constructor.
[[nodiscard]] PlaceResult place(const Problem& problem, std::string_view chain, const Budget& budget = {});

/// The same as part of a larger search, whose meter it shares.
[[nodiscard]] Placement place(const Problem& problem, std::string_view chain, Meter& meter);

}  // namespace topoloom
