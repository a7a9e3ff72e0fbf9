// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/rank_work.hpp"

namespace topoloom {

void WorkRuns::add(std::uint64_t round) {
    if (count_ > 0 && round <= first_ + count_ && works_[0] == works_[1]) {
        count_ = round + 1 - first_;  // unchanged for another rank of the same round
        return;
    }
    finish();
    last_ = 1 - last_;
    first_ = round;
    count_ = 1;
}

}  // namespace topoloom
