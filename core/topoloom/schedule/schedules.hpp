// SPDX-License-Identifier: BSD-3-Clause
// The schedules that there are: adding one is a file, a line in the variant, and a line in registry.cpp.
#pragma once

#include <variant>

#include "topoloom/schedule/binomial.hpp"
#include "topoloom/schedule/combining_mesh.hpp"
#include "topoloom/schedule/direct.hpp"
#include "topoloom/schedule/hypercube.hpp"

namespace topoloom {

using AnySchedule = std::variant<Binomial, CombiningMesh, Hypercube, Direct>;

/// Calls use(schedule) with the schedule itself: dispatches once, at the door.
template <class Use>
decltype(auto) with_schedule(const AnySchedule& schedule, const Use& use) {
    return std::visit(use, schedule);
}

}  // namespace topoloom
