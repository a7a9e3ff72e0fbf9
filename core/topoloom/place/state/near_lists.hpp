// SPDX-License-Identifier: BSD-3-Clause
// Lists of near slots, built in advance or on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topoloom/place/problem.hpp"

namespace topoloom {

/// For every position of an allocation, its `count` nearest positions, nearest first. Not thread-safe,
/// because lists may be built on demand.
class NearLists {
   public:
    using List = std::vector<Position>;

    NearLists(std::uint32_t count, std::vector<List> lists, std::function<List(Position)> make)
        : count_(count), lists_(std::move(lists)), make_(std::move(make)) {}

    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] std::span<const Position> list_at(Position position) {
        List& list = lists_[position.value];
        if (list.empty()) list = make_(position);
        return list;
    }

   private:
    std::uint32_t count_;
    std::vector<List> lists_;  // list of each position; empty: not built yet
    std::function<List(Position)> make_;
};

/// Calls use(lists) with lists of `count` slots, or fewer on small allocations. Builds all lists in advance,
/// unless the budget is spent or there are so many slots that most lists would never be used.
void with_near_lists(const Problem& problem, std::uint32_t count, Meter& meter,
                     const std::function<void(NearLists&)>& use);

}  // namespace topoloom
