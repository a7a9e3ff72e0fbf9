// SPDX-License-Identifier: BSD-3-Clause
// What is on its way: put in one cycle, taken a few cycles later.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace topoloom {

/// Many lines, on each of which one thing arrives per cycle, 1 to `longest` cycles after it was put there. Nothing is a
/// default value.
template <class Thing>
class DelayLines {
   public:
    DelayLines(std::size_t lines, std::uint32_t longest)
        : places_(std::bit_ceil(std::uint64_t{longest} + 1)), things_(lines * places_) {}
    void put(std::size_t line, std::uint64_t arrival, Thing thing) { place(line, arrival) = thing; }
    /// What arrives now; it must be taken in this cycle.
    [[nodiscard]] Thing take(std::size_t line, std::uint64_t now) {
        Thing& there = place(line, now);
        const Thing taken = there;
        if (!(taken == Thing{})) there = Thing{};
        return taken;
    }
    /// Calls visit(thing) for what is on a line.
    template <class Visit>
    void each(std::size_t line, const Visit& visit) const {
        for (std::size_t i = 0; i < places_; ++i)
            if (const Thing& thing = things_[line * places_ + i]; !(thing == Thing{})) visit(thing);
    }

   private:
    [[nodiscard]] Thing& place(std::size_t line, std::uint64_t cycle) {
        return things_[line * places_ + (cycle & (places_ - 1))];
    }

    std::size_t places_;
    std::vector<Thing> things_;
};

}  // namespace topoloom
