// SPDX-License-Identifier: BSD-3-Clause
// Collective checks: a fault on one rank raises an error on all ranks, so that no rank hangs.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace topoloom::objects {

/// A value that must be equal on all ranks.
struct CommonValue {
    const char* name;
    std::int64_t value;
};

/// Converts a text or a floating-point number to an integer for comparison between ranks.
[[nodiscard]] std::int64_t hash_for_comparison(const std::string& text);
[[nodiscard]] std::int64_t hash_for_comparison(double number);

/// Raises and throws the same error on all ranks if any rank has a fault, or if values differ. One rank prints the
/// error. Collective.
void check_on_all_ranks(MPI_Comm comm, const std::string& fault,
                        std::initializer_list<CommonValue> values = {});

}  // namespace topoloom::objects
