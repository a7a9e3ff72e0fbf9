// SPDX-License-Identifier: BSD-3-Clause
// Enumerates the schedules of a call for tests.
#pragma once

#include <doctest.h>

#include <string>

#include "topoloom/strategy/candidates.hpp"

namespace topoloom::testing {

/// Calls check(schedule) for each candidate of a call; failures name the call and the schedule.
template <class Check>
void each_candidate(const Call& call, const std::string& where, const Check& check) {
    for (const std::string& name : candidates(call)) {
        CAPTURE(where);
        CAPTURE(operation_name(call.operation));
        CAPTURE(call.ranks);
        CAPTURE(call.bytes.value);
        CAPTURE(name);
        check(make_schedule(call, name));
    }
}

}  // namespace topoloom::testing
