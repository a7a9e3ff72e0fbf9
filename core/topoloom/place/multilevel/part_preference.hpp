// SPDX-License-Identifier: BSD-3-Clause
// By how much the parts of a machine are nearer to one piece than to another.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/base/id.hpp"

namespace topoloom::multilevel {

/// How much farther a part is from the second of two pieces than from the first. The same parts are asked for
/// again and again: those whose numbers do not fall together are kept.
template <class Parts>
class Farther {
   public:
    using Sample = typename Parts::Sample;

    /// Refers to machine and samples; `samples` by part. Parts will be asked for about `questions` times.
    Farther(const Parts& machine, const std::vector<Sample>& samples, const std::array<Sample, 2>& pieces,
            std::size_t questions)
        : samples_(samples),
          difference_(machine.difference(pieces[0], pieces[1])),
          known_(std::bit_ceil(std::clamp<std::size_t>(questions, 16, samples.size() + 16))) {}

    std::int64_t operator()(Part q) {
        Known& known = known_[q.value & (known_.size() - 1)];
        if (known.part != q) known = {q, difference_(samples_[q.value])};
        return known.value;
    }

   private:
    struct Known {
        Part part = Part::none;
        std::int64_t value = 0;
    };
    const std::vector<Sample>& samples_;
    typename Parts::Difference difference_;
    std::vector<Known> known_;
};

}  // namespace topoloom::multilevel
