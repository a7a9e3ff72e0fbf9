// SPDX-License-Identifier: BSD-3-Clause
// The options of anneal.
#pragma once

#include <cstdint>

#include "topoloom/base/option.hpp"

namespace topoloom::local {

struct AnnealOptions {
    std::uint32_t sweeps = 100;
    std::uint32_t heat = 300;
    std::uint32_t chains = 2;
    void visit(auto& field) {
        field("sweeps", sweeps, Range{0, 1e9}, "proposals for each rank; 0: as many as the budget allows");
        field("heat", heat, Range{0, 1000},
              "initial temperature; 1000: a placement melts, 0: only improvements pass");
        field("chains", chains, Range{1, 1000}, "independent searches, side by side; the best one counts");
    }
};

}  // namespace topoloom::local
