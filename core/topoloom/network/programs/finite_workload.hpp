// SPDX-License-Identifier: BSD-3-Clause
// Workloads that end.
#pragma once

#include <cstdint>
#include <string>

#include "topoloom/network/workload.hpp"

namespace topoloom {

/// A workload that ends.
class FiniteWorkload : public Workload {
   public:
    [[nodiscard]] virtual bool is_done() const = 0;
    /// Steps so far, of steps() in all.
    [[nodiscard]] virtual std::uint64_t steps_done() const = 0;
    [[nodiscard]] virtual std::uint64_t steps() const = 0;
    /// The cycle in which the last step was done, once all are.
    [[nodiscard]] virtual std::uint64_t end() const = 0;
    /// Describes the first unfinished rank or operation and what it waits for.
    [[nodiscard]] virtual std::string describe_first_waiting() const = 0;
};

}  // namespace topoloom
