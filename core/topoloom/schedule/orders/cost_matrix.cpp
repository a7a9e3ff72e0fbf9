// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/orders/cost_matrix.hpp"

#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr double most_seconds = 1e9;  // sums of many costs stay finite

}  // namespace

CostMatrix::CostMatrix(std::size_t size, std::vector<double> seconds)
    : size_(size), seconds_(std::move(seconds)) {
    if (size == 0) fail("a cost matrix needs 1 process or more");
    if (seconds_.size() != size * size)
        fail(seconds_.size(), " costs between ", size, " processes; give ", size * size);
    for (std::size_t i = 0; i < seconds_.size(); ++i) {
        if (!(seconds_[i] >= 0 && seconds_[i] <= most_seconds))
            fail("the cost from process ", i / size, " to ", i % size, " is ", seconds_[i],
                 "; it must be from 0 to ", most_seconds, " seconds");
    }
}

}  // namespace topoloom
