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

/// Decision tables as written by `topoloom collective rank --decisions`, at most one per operation.
class DecisionTable {
   public:
    /// An empty table.
    DecisionTable() = default;
    /// Parses one or several consecutive tables. Throws Error, naming the line, if JSON is invalid, a table
    /// has no decisions, or keys do not ascend. The same if an operation has two tables, or a schedule is
    /// unknown.
    explicit DecisionTable(std::string_view text);

    /// Selects the decisions with the largest rank count <= `ranks` and, for many-to-many operations, the
    /// highest degree. Returns the schedule of the last of these with bytes <= `bytes`; null if there is
    /// none.
    /// The text lives as long as the table.
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
