// SPDX-License-Identifier: BSD-3-Clause
// The definition of topoloom_strategy.
#pragma once

#include <memory>
#include <utility>

#include "topoloom/capi/topoloom_schedules.h"
#include "topoloom/strategy/share_strategy.hpp"
#include "topoloom/strategy/strategy.hpp"

struct topoloom_strategy {
    explicit topoloom_strategy(topoloom::Setting given)
        : setting(given), shared(topoloom::share_strategy(std::move(given))) {}

    topoloom::Setting setting;
    std::shared_ptr<topoloom::Strategy> shared;
};

namespace topoloom {

/// Throws Error if the number is not an operation.
[[nodiscard]] Operation check_operation(topoloom_operation operation);

}  // namespace topoloom
