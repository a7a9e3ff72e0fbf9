// SPDX-License-Identifier: BSD-3-Clause
// Fixed-latency pipelines: an item arrives some cycles after it was put.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace topoloom {

/// A set of lines. On each line, at most one item arrives per cycle. The default value means no item.
template <class Item>
class DelayLines {
   public:
    /// Items are put at most `longest` cycles before they arrive. The thread that puts items is at most
    /// `ahead` cycles ahead of the thread that takes them.
    DelayLines(std::size_t lines, std::uint32_t longest, std::uint32_t ahead)
        : lines_(lines),
          places_(std::bit_ceil(std::uint64_t{longest} + std::max(ahead, 1U))),
          items_(lines * places_) {}
    void put(std::size_t line, std::uint64_t arrival, Item item) { at(arrival)[line] = item; }
    /// The items that arrive in a cycle, by line. The caller must clear the items that it takes.
    [[nodiscard]] Item* at(std::uint64_t cycle) { return items_.data() + (cycle & (places_ - 1)) * lines_; }
    /// Calls visit(item) for every item on a line.
    template <class Visit>
    void for_each(std::size_t line, const Visit& visit) const {
        for (std::size_t place = 0; place < places_; ++place)
            if (const Item& item = items_[place * lines_ + line]; !(item == Item{})) visit(item);
    }

   private:
    std::size_t lines_;
    std::size_t places_;
    std::vector<Item> items_;  // [cycle modulo places_][line]: item that arrives
};

}  // namespace topoloom
