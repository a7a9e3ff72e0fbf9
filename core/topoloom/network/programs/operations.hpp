// SPDX-License-Identifier: BSD-3-Clause
// Operation graphs: sends, receives and work of ranks, with dependences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"

namespace topoloom {

using OperationId = Id<struct OperationKind>;

/// An operation. A processor of a rank executes one operation at a time.
struct RankOperation {
    enum class Kind : std::uint8_t { send, receive, work };

    Kind kind = Kind::work;
    std::uint16_t processor = 0;
    Rank rank;
    Rank peer;               // of a message
    std::uint32_t tag = 0;   // of a message
    std::uint32_t line = 0;  // line of the input file
    std::uint64_t size = 0;  // bytes of a message, or nanoseconds of work
    OperationId match{};     // the matching receive or send
};

/// A dependence: `after` waits for the end of `before`, or only for the start.
struct Dependence {
    OperationId after, before;
    bool on_start = false;
};

/// Operations of ranks and their dependences. For each pair of ranks and tag, the n-th send matches the n-th
/// receive, in the order of operations.
class OperationGraph {
   public:
    struct Dependent {
        OperationId operation;
        bool on_start;
    };

    /// Operations are sorted by rank. Computes `match`. Throws Error for sends or receives without a match,
    /// matches of different sizes, and dependency cycles. The message lists the operations of the cycle.
    OperationGraph(std::size_t ranks, std::vector<RankOperation> operations,
                   std::span<const Dependence> order);

    [[nodiscard]] std::size_t rank_count() const { return ranks_; }
    [[nodiscard]] std::span<const RankOperation> operations() const { return operations_; }
    [[nodiscard]] const RankOperation& operator[](OperationId id) const { return operations_[id.value]; }
    /// Operations that wait for operation `id`.
    [[nodiscard]] std::span<const Dependent> dependents(OperationId id) const {
        return std::span(dependents_).subspan(first_[id.value], first_[id.value + 1] - first_[id.value]);
    }
    /// Number of operations that operation `id` waits for.
    [[nodiscard]] std::uint32_t dependence_count(OperationId id) const { return waits_[id.value]; }
    /// Describes the operation for error messages.
    [[nodiscard]] std::string name(OperationId id) const;

   private:
    void match_messages();
    void require_acyclic() const;

    std::size_t ranks_;
    std::vector<RankOperation> operations_;
    std::vector<std::uint64_t> first_;
    std::vector<Dependent> dependents_;
    std::vector<std::uint32_t> waits_;
};

}  // namespace topoloom
