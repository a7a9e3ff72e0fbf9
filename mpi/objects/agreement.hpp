// SPDX-License-Identifier: BSD-3-Clause
// Faults that all ranks learn of, so that none waits for others.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace topoloom::objects {

/// What must be the same on all ranks.
struct Common {
    const char* name;
    std::int64_t value;
};

/// A hash of a text, and the bits of a number, to be compared.
[[nodiscard]] std::int64_t to_compare(const std::string& text);
[[nodiscard]] std::int64_t to_compare(double number);

/// Collective. Where a rank has a fault, or values differ, all raise the same error, of which one line is printed, and throw it.
void agree(MPI_Comm comm, const std::string& fault, std::initializer_list<Common> values = {});

}  // namespace topoloom::objects
