// SPDX-License-Identifier: BSD-3-Clause
// Collective checks: a fault on one rank is an error on all, so that none waits for others.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace topoloom::objects {

/// A value that must be the same on all ranks.
struct CommonValue {
    const char* name;
    std::int64_t value;
};

/// A number to compare a text, or a floating-point number, by.
[[nodiscard]] std::int64_t comparable(const std::string& text);
[[nodiscard]] std::int64_t comparable(double number);

/// Collective. If a rank has a fault, or values differ, all ranks raise and throw the same error; one prints it.
void check_on_all_ranks(MPI_Comm comm, const std::string& fault,
                        std::initializer_list<CommonValue> values = {});

}  // namespace topoloom::objects
