// SPDX-License-Identifier: BSD-3-Clause
// Compiles a schedule and a block layout into the program of one rank.
#pragma once

#include "topoloom/execute/block_layout.hpp"
#include "topoloom/execute/rank_program.hpp"
#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom {

/// The order in which operands may be reduced.
enum class OperandOrder {
    any,     ///< the operator is commutative
    by_rank  ///< the share of lower ranks is the left operand; the schedule has to keep this order
};

/// What the rank of the layout does. The layout is that of the schedule's collective, as far as blocks and ranks go; sizes
/// are the layout's. Data are sent from where they lie and received where they are wanted, if they lie there in one piece.
/// Sends and receives as the schedule, a message each, but for empty ones, of which both ends know; those of a barrier are
/// empty. Throws Error if by_rank is asked of a schedule that does not keep it, and for blocks of unknown size.
/// O(messages + blocks of the rank), but O(all blocks of all ranks) in rank order.
[[nodiscard]] RankProgram compile(const AnySchedule& schedule, const BlockLayout& layout,
                                  OperandOrder operands = OperandOrder::any);

/// Whether only contributions of adjacent rank ranges are combined, so that the operator need not be commutative.
/// O(all blocks of all ranks), of more than one round.
[[nodiscard]] bool keeps_rank_order(const AnySchedule& schedule);

}  // namespace topoloom
