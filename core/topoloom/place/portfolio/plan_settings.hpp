// SPDX-License-Identifier: BSD-3-Clause
// The settings of `auto` for each effort, as a table for users.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace topoloom::portfolio {

/// A setting of `auto`.
struct PlanSetting {
    std::string_view problems;  // the problems that it applies to: hop-bytes, shared slots, or links
    std::string_view name;
    std::string_view summary;
    std::array<double, 3> values;  // for fast, default and best; 0 and 1 for no and yes
};

/// All settings, by kind of problem. Every effort runs the searches of the lower ones first.
[[nodiscard]] std::vector<PlanSetting> list_plan_settings();

}  // namespace topoloom::portfolio
