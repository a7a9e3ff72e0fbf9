// SPDX-License-Identifier: BSD-3-Clause
// Stages of a combined exchange: each stage sends along one axis of a virtual mesh, and axes are used in
// ascending order. Independent of MPI.
//
// A position is a number with one digit per axis. The last plane across the highest axis may be incomplete. A
// hop to a hole in this plane is redirected to a complete plane, chosen by the position of the sender (Kumar
// 2005, section 3.1; see mesh.h of streams).
#pragma once

#include <cstddef>
#include <vector>

#include "topoloom_scheduler.hpp"

namespace topoloom::objects {

class ExchangeStages {
   public:
    ExchangeStages() = default;
    ExchangeStages(Combining strategy, int ranks) : ranks_(ranks) {
        const int axes = strategy == Combining::mesh ? 2 : strategy == Combining::grid ? 3 : 1;
        int extent = strategy == Combining::direct ? ranks : 2;
        const auto holds_all = [&] {
            long long places = 1;
            for (int axis = 0; axis < axes; ++axis) places *= extent;
            return places >= ranks;
        };
        while (strategy != Combining::hypercube && !holds_all()) ++extent;
        for (int stride = 1; stride < ranks; stride *= extents_.back()) {
            const int planes = (ranks + stride - 1) / stride;
            strides_.push_back(stride);
            extents_.push_back(extent < planes ? extent : planes);
        }
    }
    [[nodiscard]] std::size_t count() const { return extents_.size(); }
    [[nodiscard]] bool is_last(std::size_t stage) const { return stage + 1 >= count(); }
    /// Returns the next position of a message in a stage, or `position` if the message stays.
    [[nodiscard]] int next_hop(std::size_t stage, int position, int target) const {
        return move_to_digit(stage, position, get_digit(stage, target));
    }
    /// Lists the receivers of a rank in a stage that is not the last. The rank sends to all of them, even without
    /// messages, so that receivers can detect the end of the stage.
    [[nodiscard]] std::vector<int> list_receivers(std::size_t stage, int position) const {
        std::vector<int> found;
        for (int to = 0; to < extents_[stage]; ++to)
            if (to != get_digit(stage, position)) found.push_back(move_to_digit(stage, position, to));
        return found;
    }
    [[nodiscard]] std::size_t count_senders(std::size_t stage, int position) const {
        std::size_t found = 0;
        for (int from = 0; from < ranks_; ++from)
            if (from != position && next_hop(stage, from, position) == position) ++found;
        return found;
    }

   private:
    [[nodiscard]] int get_digit(std::size_t stage, int position) const {
        return position / strides_[stage] % extents_[stage];
    }
    [[nodiscard]] int move_to_digit(std::size_t stage, int position, int to) const {
        const int there = position + (to - get_digit(stage, position)) * strides_[stage];
        if (there < ranks_) return there;
        const int plane = strides_.back(), complete = ranks_ / plane;
        return there % plane + position % plane % complete * plane;
    }

    int ranks_ = 1;
    std::vector<int> extents_, strides_;
};

}  // namespace topoloom::objects
