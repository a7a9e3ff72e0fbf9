// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/exact/place_symmetry.hpp"

#include <algorithm>
#include <numeric>

#include "topoloom/base/id.hpp"

namespace topoloom {

/// Extends a mapping place by place as long as distances to all places mapped before are kept.
class PlaceSymmetry::Search {
   public:
    Search(const PlaceSymmetry& symmetry, std::uint32_t tries)
        : tries_(tries),
          places_(symmetry.places_),
          distances_(symmetry.distances_),
          image_(places_, no_index),
          taken_(places_, 0) {}

    [[nodiscard]] bool map(std::uint32_t from, std::uint32_t to) {
        if (taken_[to] || distance(from, from) != distance(to, to)) return false;
        for (const std::uint32_t other : mapped_) {
            if (distance(from, other) != distance(to, image_[other]) ||
                distance(other, from) != distance(image_[other], to))
                return false;
        }
        image_[from] = to;
        taken_[to] = 1;
        mapped_.push_back(from);
        return true;
    }
    /// Maps all other places, if there is a way and it is found soon.
    [[nodiscard]] bool complete() {
        if (mapped_.size() == places_) return true;
        std::uint32_t from = 0;
        while (image_[from] != no_index) ++from;
        for (std::uint32_t to = 0; to < places_ && tries_ > 0; ++to) {
            --tries_;
            if (!map(from, to)) continue;
            if (complete()) return true;
            mapped_.pop_back();
            taken_[to] = 0;
            image_[from] = no_index;
        }
        return false;
    }
    [[nodiscard]] const std::vector<std::uint32_t>& image() const { return image_; }
    [[nodiscard]] std::uint32_t tries_left() const { return tries_; }

   private:
    [[nodiscard]] std::int64_t distance(std::uint32_t a, std::uint32_t b) const {
        return distances_[std::size_t{a} * places_ + b];
    }

    std::uint32_t tries_;
    std::uint32_t places_;
    std::span<const std::int64_t> distances_;
    std::vector<std::uint32_t> image_;
    std::vector<char> taken_;
    std::vector<std::uint32_t> mapped_;
};

std::vector<std::uint32_t> PlaceSymmetry::orbits(std::span<const std::uint32_t> fixed) const {
    std::vector<std::uint32_t> least(places_);
    std::iota(least.begin(), least.end(), 0U);
    const auto find = [&](std::uint32_t place) {
        while (least[place] != place) place = least[place];
        return place;
    };
    constexpr std::uint32_t tries_of_search = 20'000;
    std::uint32_t tries = 100 * tries_of_search;
    // One place speaks for all that are known to be like it.
    for (std::uint32_t to = 0; to < places_; ++to) {
        for (std::uint32_t from = to + 1; from < places_ && find(to) == to; ++from) {
            if (find(from) != from || tries == 0) continue;
            const std::uint32_t lent = std::min(tries, tries_of_search);
            Search search(*this, lent);
            bool possible = true;
            for (const std::uint32_t place : fixed) possible = possible && search.map(place, place);
            const bool found = possible && search.map(from, to) && search.complete();
            tries -= lent - search.tries_left();
            if (!found) continue;
            for (std::uint32_t place = 0; place < places_; ++place) {
                const std::uint32_t a = find(place);
                const std::uint32_t b = find(search.image()[place]);
                least[std::max(a, b)] = std::min(a, b);
            }
        }
    }
    for (std::uint32_t place = 0; place < places_; ++place) least[place] = find(place);
    return least;
}

}  // namespace topoloom
