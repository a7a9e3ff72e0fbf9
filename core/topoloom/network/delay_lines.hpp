// SPDX-License-Identifier: BSD-3-Clause
// What is on its way: put in one cycle, taken a few cycles later.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace topoloom {

/// Many lines, on each of which one thing arrives per cycle. Nothing is a default value.
template <class Thing>
class DelayLines {
   public:
    /// For things that are put there up to `longest` cycles before they are taken, by a thread that may be `ahead` cycles further
    /// than the one that takes them.
    DelayLines(std::size_t lines, std::uint32_t longest, std::uint32_t ahead)
        : lines_(lines),
          places_(std::bit_ceil(std::uint64_t{longest} + std::max(ahead, 1U))),
          things_(lines * places_) {}
    void put(std::size_t line, std::uint64_t arrival, Thing thing) { at(arrival)[line] = thing; }
    /// What arrives in a cycle, by lines; whoever takes a thing clears it.
    [[nodiscard]] Thing* at(std::uint64_t cycle) { return things_.data() + (cycle & (places_ - 1)) * lines_; }
    /// Calls visit(thing) for what is on a line.
    template <class Visit>
    void each(std::size_t line, const Visit& visit) const {
        for (std::size_t place = 0; place < places_; ++place)
            if (const Thing& thing = things_[place * lines_ + line]; !(thing == Thing{})) visit(thing);
    }

   private:
    std::size_t lines_;
    std::size_t places_;
    std::vector<Thing> things_;  // [cycle modulo places][line]
};

}  // namespace topoloom
