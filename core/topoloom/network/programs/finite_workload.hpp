// SPDX-License-Identifier: BSD-3-Clause
// Interface of workloads with an end.
#pragma once

#include <cstdint>
#include <string>

#include "topoloom/network/workload.hpp"

namespace topoloom {

/// A workload with a fixed number of steps.
class FiniteWorkload : public Workload {
   public:
    [[nodiscard]] virtual bool is_done() const = 0;
    /// Number of completed steps, out of steps().
    [[nodiscard]] virtual std::uint64_t steps_done() const = 0;
    [[nodiscard]] virtual std::uint64_t steps() const = 0;
    /// The cycle in which the last step was completed. Requires is_done().
    [[nodiscard]] virtual std::uint64_t end() const = 0;
    /// Describes the first unfinished rank or operation, and why it waits.
    [[nodiscard]] virtual std::string describe_first_waiting() const = 0;
};

}  // namespace topoloom
