// SPDX-License-Identifier: BSD-3-Clause
// Precomputed decisions: the schedule of each size range.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topoloom/base/unit.hpp"
#include "topoloom/schedule/collective.hpp"

namespace topoloom {

/// Tables as `topoloom collective --decisions` writes them, one for each of some operations.
class DecisionTable {
   public:
    /// An empty table.
    DecisionTable() = default;
    /// Reads one table, or several after each other. Throws Error that names the line for anything else, tables without
    /// decisions, keys that do not ascend, two tables of one operation, and schedules that make_schedule() does not know.
    explicit DecisionTable(std::string_view text);

    /// Selects the lines with the largest rank count <= `ranks` and, for a many-to-many, the highest degree. Returns
    /// the last of them with bytes <= `bytes`; null if there is none. The text lives as long as the table.
    [[nodiscard]] const std::string* find(Operation operation, std::size_t ranks, Bytes bytes) const;
    [[nodiscard]] bool empty() const { return decisions_.empty(); }

   private:
    struct Key {
        std::int64_t ranks = 0, degree = 0, bytes = 0;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Decision {
        Operation operation;
        Key from;
        std::string schedule;
    };
    std::vector<Decision> decisions_;
};

}  // namespace topoloom
