// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/orders/cost_matrix.hpp"

#include <cmath>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

CostMatrix::CostMatrix(std::size_t size, std::vector<double> seconds)
    : size_(size), seconds_(std::move(seconds)) {
    if (size == 0) fail("costs of no processes");
    if (seconds_.size() != size * size)
        fail(seconds_.size(), " costs between ", size, " processes; give ", size * size);
    for (std::size_t i = 0; i < seconds_.size(); ++i) {
        if (!std::isfinite(seconds_[i]) || seconds_[i] < 0)
            fail("the cost from process ", i / size, " to ", i % size, " is ", seconds_[i],
                 "; it must be finite and not negative");
    }
}

}  // namespace topoloom
