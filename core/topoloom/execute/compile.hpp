// SPDX-License-Identifier: BSD-3-Clause
// Compiles a schedule and a block layout into the program of one rank.
#pragma once

#include "topoloom/execute/block_layout.hpp"
#include "topoloom/execute/rank_program.hpp"
#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom {

/// The order in which contributions may be reduced.
enum class OperandOrder {
    any,     ///< any order, for commutative operators
    by_rank  ///< the share of lower ranks is the left operand; the schedule has to keep this order
};

/// Compiles the program of the layout's rank. The layout must have the same blocks and ranks as the
/// schedule's collective; block sizes are those of the layout. Contiguous data are sent and received in
/// place. Messages are those of the schedule. Empty messages are left out, because both ends know that they
/// are empty; barriers send them.
///
/// Throws Error for by_rank with a schedule that does not support rank order, and for blocks of unknown size.
/// O(messages + blocks of the rank); O(all blocks of all ranks) for by_rank.
[[nodiscard]] RankProgram compile(const AnySchedule& schedule, const BlockLayout& layout,
                                  OperandOrder operands = OperandOrder::any);

/// Whether the schedule combines only contributions of adjacent ranges of ranks. Then the operator need not
/// be commutative. O(all blocks of all ranks) for more than one round.
[[nodiscard]] bool keeps_rank_order(const AnySchedule& schedule);

}  // namespace topoloom
