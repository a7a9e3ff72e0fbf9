// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/objective.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 4> names{"hop-bytes", "congestion", "congestion-soft", "time"};
constexpr std::string_view mix = "weighted(";

ObjectiveKind parse_alternative(std::string_view text) {
    const auto found = std::ranges::find(names, text);
    if (found != names.end()) return static_cast<ObjectiveKind>(found - names.begin());
    std::vector<std::string> known(names.begin(), names.end());
    known.emplace_back("weighted(NAME=WEIGHT,...)");
    throw Error(unknown_name_message("objective", text, known));
}

double parse_weight(std::string_view part, std::string_view text) {
    double weight = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), weight);
    if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(weight) || weight <= 0)
        fail("objective part '", part, "': the weight must be a number above 0");
    return weight;
}

}  // namespace

bool Objective::is(ObjectiveKind kind) const {
    return !relative && of(kind) == 1 && std::ranges::count(weight, 0.0) == 3;
}

std::string_view name_of(ObjectiveKind kind) { return names[static_cast<std::size_t>(kind)]; }

Objective objective_of(ObjectiveKind kind) {
    Objective objective{.weight = {}};
    objective.weight[static_cast<std::size_t>(kind)] = 1;
    return objective;
}

Objective parse_objective(std::string_view text) {
    if (!text.starts_with(mix)) return objective_of(parse_alternative(text));
    Objective objective{.weight = {}};
    objective.relative = true;
    if (!text.ends_with(')')) fail("objective '", text, "': expected ')' at the end");
    std::string_view rest = text.substr(mix.size(), text.size() - mix.size() - 1);
    while (true) {
        const std::string_view part = rest.substr(0, rest.find(','));
        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos)
            fail("objective '", text, "': expected NAME=WEIGHT, as in weighted(hop-bytes=1,congestion=2)");
        double& weight =
            objective.weight[static_cast<std::size_t>(parse_alternative(part.substr(0, equals)))];
        if (weight != 0) fail("objective '", text, "': ", part.substr(0, equals), " is given twice");
        weight = parse_weight(part, part.substr(equals + 1));
        if (part.size() == rest.size()) return objective;
        rest.remove_prefix(part.size() + 1);
    }
}

}  // namespace topoloom
