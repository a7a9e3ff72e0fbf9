// SPDX-License-Identifier: BSD-3-Clause
// Lists of near slots, built eagerly or on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topoloom/place/problem.hpp"

namespace topoloom {

/// For every position of an allocation those nearest to it, as many as `count` says, nearest first. Not for several
/// threads: lists may be made as they are asked for.
class NearLists {
   public:
    using List = std::vector<Position>;

    NearLists(std::uint32_t count, std::vector<List> lists, std::function<List(Position)> make)
        : count_(count), lists_(std::move(lists)), make_(std::move(make)) {}

    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] std::span<const Position> of(Position position) {
        List& list = lists_[position.value];
        if (list.empty()) list = make_(position);
        return list;
    }

   private:
    std::uint32_t count_;
    std::vector<List> lists_;  // by position; empty: not made yet
    std::function<List(Position)> make_;
};

/// Calls use(lists) with up to `count` slots per list; small allocations have fewer. All lists are built up front,
/// unless there are so many slots that most lists would never be used, or the budget is spent.
void with_near_lists(const Problem& problem, std::uint32_t count, Meter& meter,
                     const std::function<void(NearLists&)>& use);

}  // namespace topoloom
