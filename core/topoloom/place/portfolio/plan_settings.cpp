// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/portfolio/plan_settings.hpp"

#include <cstddef>

#include "topoloom/place/portfolio/effort_limits.hpp"
#include "topoloom/place/portfolio/hop_bytes_plan.hpp"

namespace topoloom::portfolio {
namespace {

/// Appends the settings that `visit(limits, field)` names, with the values of all efforts.
template <class Limits>
void append_settings(std::vector<PlanSetting>& settings, std::string_view problems,
                     const std::array<Limits, 3>& efforts, auto visit) {
    const std::size_t first = settings.size();
    auto add = [&](std::string_view name, auto, std::string_view summary) {
        settings.push_back({problems, name, summary, {}});
    };
    visit(efforts.front(), add);
    for (std::size_t effort = 0; effort < efforts.size(); ++effort) {
        std::size_t next = first;
        auto set = [&](std::string_view, auto value, std::string_view) {
            settings[next++].values[effort] = static_cast<double>(value);
        };
        visit(efforts[effort], set);
    }
}

}  // namespace

std::vector<PlanSetting> list_plan_settings() {
    std::vector<PlanSetting> settings;
    append_settings(settings, "hop-bytes", hop_bytes_plans,
                    [](const auto& plan, auto& field) { plan.visit(field); });
    append_settings(settings, "shared slots", effort_limits,
                    [](const EffortLimits& limits, auto& field) { limits.visit_shared_slots(field); });
    append_settings(settings, "links", effort_limits,
                    [](const EffortLimits& limits, auto& field) { limits.visit_links(field); });
    return settings;
}

}  // namespace topoloom::portfolio
