// SPDX-License-Identifier: BSD-3-Clause
// Collectives: the data blocks of every rank before the first round and after the last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"
#include "topoloom/schedule/demand.hpp"

namespace topoloom {

/// The operations of MPI. Alltoall is personalized: each pair has its own block. Many-to-many is a sparse
/// alltoall between the pairs of the demand; its multicast variant is a sparse allgather.
enum class Operation {
    bcast,
    reduce,
    scatter,
    gather,
    allgather,
    allreduce,
    reduce_scatter,
    alltoall,
    barrier,
    many_to_many,
    many_to_many_multicast,
    scan,
    exscan,
};

/// Returns the name used on the command line, such as allgather.
[[nodiscard]] std::string_view operation_name(Operation operation);
/// Throws Error if the name is unknown; the error lists all operations.
[[nodiscard]] Operation parse_operation(std::string_view name);

/// Throws Error unless there are 1 to 2^31 - 1 ranks.
void require_rank_count(Operation operation, std::size_t ranks);

[[nodiscard]] constexpr bool is_many_to_many(Operation operation) {
    return operation == Operation::many_to_many || operation == Operation::many_to_many_multicast;
}

/// How bytes are cut into pieces if the division leaves a remainder.
enum class Cut : std::uint8_t {
    even,        ///< the first pieces are one byte longer
    last,        ///< the last piece includes the remainder
    rounded_up,  ///< pieces are rounded up; one is shorter, and pieces after it are empty and never sent
};

/// Data in numbered blocks.
///   bcast, reduce, allreduce     `bytes` in total, cut into `pieces`: block b is piece b
///   scatter, gather, allgather       `bytes` per rank: block b is sent to or by rank b
///   reduce_scatter                    `bytes` per rank: block b is reduced to rank b
///                                     (`bytes` in total if allgather or reduce_scatter has `pieces`)
///   scan, exscan                      one block; rank r needs the contributions of ranks 0 .. r (scan) or
///                                     0 .. r - 1 (exscan), and keeps those of lower ranks separate
///   alltoall                        `bytes` per pair: block o * ranks + t is sent by rank o to rank t
///   many-to-many                      like alltoall, but only for the pairs of a demand, with its bytes
///   many-to-many-multicast            block b is sent by rank b to its targets; other ranks may also have it
///   barrier                           one block of 0 bytes; every rank contributes at least once
class Collective {
   public:
    /// Throws Error if ranks is 0 or at least 2^31, bytes is negative, a rank has more than 2^62 bytes, a
    /// barrier has bytes, root is not a rank, or pieces is 0, above 2^31, or not 1 for an operation that
    /// cannot be cut.
    Collective(Operation operation, std::size_t ranks, Bytes bytes, Rank root = Rank{0},
               std::uint64_t pieces = 1, Cut cut = Cut::even);
    /// Constructs a many-to-many or its multicast variant. Throws Error for another operation.
    Collective(Operation operation, std::shared_ptr<const Demand> demand);

    [[nodiscard]] Operation operation() const { return operation_; }
    [[nodiscard]] std::size_t ranks() const { return ranks_; }
    [[nodiscard]] Bytes bytes() const { return bytes_; }
    [[nodiscard]] Rank root() const { return root_; }
    [[nodiscard]] std::uint64_t pieces() const { return pieces_; }
    /// The demand of a many-to-many or its multicast variant; null for other operations.
    [[nodiscard]] const Demand* demand() const { return demand_.get(); }

    /// Whether several ranks contribute to the same block.
    [[nodiscard]] bool reduces() const;
    /// Whether ranks may end with more blocks than the collective promises.
    [[nodiscard]] bool allows_extra_blocks() const {
        return reduces() || operation_ == Operation::many_to_many_multicast;
    }
    /// Whether every pair of ranks has its own block.
    [[nodiscard]] bool is_personalized() const {
        return operation_ == Operation::alltoall || operation_ == Operation::many_to_many;
    }
    /// Whether the target receives data from the origin. Only for operations in which every rank has its own
    /// data.
    [[nodiscard]] bool is_target(Rank origin, Rank target) const {
        return demand_ == nullptr || demand_->is_target(origin, target);
    }
    [[nodiscard]] std::uint64_t block_count() const;
    /// The block promised to a rank includes the contributions of this many ranks: 0, 1, ... .
    [[nodiscard]] std::size_t promised_shares(Rank rank) const {
        return operation_ == Operation::scan     ? rank.value + std::size_t{1}
               : operation_ == Operation::exscan ? rank.value
                                                 : ranks_;
    }
    /// Bytes of `count` blocks, beginning with `first`.
    [[nodiscard]] Bytes bytes_of(std::uint64_t first, std::uint64_t count = 1) const {
        if (demand_ != nullptr) return demanded_bytes(first, count);
        if (pieces_ == 1) return bytes_ * static_cast<std::int64_t>(count);
        return piece_begin(first + count) - piece_begin(first);
    }
    /// Whether a piece has 0 bytes and is therefore not sent.
    [[nodiscard]] bool is_empty(std::uint64_t block) const {
        return cut_ == Cut::rounded_up && bytes_of(block).value == 0;
    }
    /// Whether the rank has the block, or its contribution to the block, before the first round.
    [[nodiscard]] bool has_initially(Rank rank, std::uint64_t block) const;
    /// Whether the rank has the complete block after the last round.
    [[nodiscard]] bool has_finally(Rank rank, std::uint64_t block) const;

    /// Positions count from the root: position 0 is the root.
    [[nodiscard]] std::uint32_t position(Rank rank) const {
        return rank_at_distance(rank, ranks_ - root_.value).value;
    }
    [[nodiscard]] Rank at(std::size_t position) const { return rank_at_distance(root_, position); }
    /// The rank at distance `by`, modulo the number of ranks; by < 2^32.
    [[nodiscard]] Rank rank_at_distance(Rank rank, std::size_t by) const {
        const std::size_t to = rank.value + by;
        return Rank{to < ranks_ ? to : to < 2 * ranks_ ? to - ranks_ : to % ranks_};
    }

   private:
    [[nodiscard]] Bytes demanded_bytes(std::uint64_t first, std::uint64_t count) const;
    [[nodiscard]] Bytes piece_begin(std::uint64_t piece) const {
        const auto count = static_cast<std::int64_t>(pieces_);
        const auto at = static_cast<std::int64_t>(piece);
        const std::int64_t least = bytes_.value / count, rest = bytes_.value % count;
        switch (cut_) {
            case Cut::even:
                return Bytes{least * at + (at < rest ? at : rest)};
            case Cut::last:
                return Bytes{at == count ? bytes_.value : least * at};
            default:
                return std::min(bytes_, Bytes{(least + (rest > 0 ? 1 : 0)) * at});
        }
    }

    Operation operation_;
    std::size_t ranks_;
    Bytes bytes_;
    Rank root_;
    std::uint64_t pieces_;
    Cut cut_ = Cut::even;
    std::shared_ptr<const Demand> demand_;
};

}  // namespace topoloom
