// SPDX-License-Identifier: BSD-3-Clause
// Operation graph of ranks: sends, receives and work with dependences.
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

/// An operation. Each processor of a rank does one at a time.
struct RankOperation {
    enum class Kind : std::uint8_t { send, receive, work };

    Kind kind = Kind::work;
    std::uint16_t processor = 0;
    Rank rank;
    Rank peer;               // of a message
    std::uint32_t tag = 0;   // of a message
    std::uint32_t line = 0;  // of the file that it is from
    std::uint64_t size = 0;  // bytes, or nanoseconds of work
    OperationId match{};     // the other side of a message
};

/// `after` waits for the end of `before`, or only for its start.
struct Dependence {
    OperationId after, before;
    bool on_start = false;
};

/// Operations of ranks, and what waits for what. The first send of a rank to another with a tag is for the first receive of
/// that rank from it with this tag in the order of operations, and so on.
class OperationGraph {
   public:
    struct Dependent {
        OperationId operation;
        bool on_start;
    };

    /// The operations of rank 0 come first. `match` is found. Throws Error for messages that no rank receives or sends,
    /// sizes that differ, and operations that wait for each other in a circle, which it names.
    OperationGraph(std::size_t ranks, std::vector<RankOperation> operations,
                   std::span<const Dependence> order);

    [[nodiscard]] std::size_t rank_count() const { return ranks_; }
    [[nodiscard]] std::span<const RankOperation> operations() const { return operations_; }
    [[nodiscard]] const RankOperation& operator[](OperationId id) const { return operations_[id.value]; }
    /// Operations that wait for this one.
    [[nodiscard]] std::span<const Dependent> dependents(OperationId id) const {
        return std::span(dependents_).subspan(first_[id.value], first_[id.value + 1] - first_[id.value]);
    }
    /// Number of dependences on this rank.
    [[nodiscard]] std::uint32_t waits(OperationId id) const { return waits_[id.value]; }
    /// A description for error messages.
    [[nodiscard]] std::string name(OperationId id) const;

   private:
    void match_messages();
    void require_order() const;

    std::size_t ranks_;
    std::vector<RankOperation> operations_;
    std::vector<std::uint64_t> first_;
    std::vector<Dependent> dependents_;
    std::vector<std::uint32_t> waits_;
};

}  // namespace topoloom
