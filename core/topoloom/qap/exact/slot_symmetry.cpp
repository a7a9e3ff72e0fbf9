// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/exact/slot_symmetry.hpp"

#include <algorithm>

#include "topoloom/base/id.hpp"

namespace topoloom::qap {

/// Extends a mapping slot by slot so that distances to all previously mapped slots are preserved.
class SlotSymmetry::Search {
   public:
    Search(const SlotSymmetry& symmetry, std::uint32_t tries)
        : tries_(tries),
          slots_(symmetry.slots_),
          distances_(symmetry.distances_),
          image_(slots_, Position::none),
          taken_(slots_, 0) {}

    [[nodiscard]] bool try_map(Position from, Position to) {
        if (image_[from.value] != Position::none || taken_[to.value]) return false;
        if (distance(from, from) != distance(to, to)) return false;
        for (const Position other : mapped_) {
            const Position image = image_[other.value];
            if (distance(from, other) != distance(to, image) || distance(other, from) != distance(image, to))
                return false;
        }
        image_[from.value] = to;
        taken_[to.value] = 1;
        mapped_.push_back(from);
        return true;
    }
    /// Maps all other slots. Returns false if that is impossible or needs too many tries.
    [[nodiscard]] bool complete_mapping() {
        if (mapped_.size() == slots_) return true;
        Position from{0};
        while (image_[from.value] != Position::none) ++from.value;
        for (const Position to : ids<Position>(slots_)) {
            if (tries_ == 0) break;
            --tries_;
            if (!try_map(from, to)) continue;
            if (complete_mapping()) return true;
            mapped_.pop_back();
            taken_[to.value] = 0;
            image_[from.value] = Position::none;
        }
        return false;
    }
    [[nodiscard]] const std::vector<Position>& image() const { return image_; }
    [[nodiscard]] std::uint32_t tries_left() const { return tries_; }

   private:
    [[nodiscard]] std::int64_t distance(Position a, Position b) const {
        return distances_[std::size_t{a.value} * slots_ + b.value];
    }

    std::uint32_t tries_;
    std::uint32_t slots_;
    std::span<const std::int64_t> distances_;
    std::vector<Position> image_;
    std::vector<char> taken_;
    std::vector<Position> mapped_;
};

std::vector<Position> SlotSymmetry::orbits(std::span<const Position> fixed) const {
    std::vector<Position> least = id_list<Position>(slots_);
    const auto find = [&](Position slot) {
        while (least[slot.value] != slot) slot = least[slot.value];
        return slot;
    };
    constexpr std::uint32_t tries_of_search = 20'000;
    std::uint32_t tries = 100 * tries_of_search;
    // One slot represents all slots known to be equivalent.
    for (const Position to : ids<Position>(slots_)) {
        for (Position from{to.value + 1}; from.value < slots_ && find(to) == to; ++from.value) {
            if (find(from) != from || tries == 0) continue;
            const std::uint32_t lent = std::min(tries, tries_of_search);
            Search search(*this, lent);
            bool possible = true;
            for (const Position slot : fixed) possible = possible && search.try_map(slot, slot);
            const bool found = possible && search.try_map(from, to) && search.complete_mapping();
            tries -= lent - search.tries_left();
            if (!found) continue;
            for (const Position slot : ids<Position>(slots_)) {
                const Position a = find(slot);
                const Position b = find(search.image()[slot.value]);
                least[std::max(a, b).value] = std::min(a, b);
            }
        }
    }
    for (const Position slot : ids<Position>(slots_)) least[slot.value] = find(slot);
    return least;
}

}  // namespace topoloom::qap
