// SPDX-License-Identifier: BSD-3-Clause
// Mappers that ignore the network and can place more ranks than slots: round-robin, random, hashed, box.
#include <doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/place/grid/grid_boxes.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

/// A problem with a periodic grid of ranks on the slots of a machine, in random order.
struct GridCase {
    GridCase(Extents shape, const std::string& text, double imbalance)
        : extents(std::move(shape)),
          graph([&] {
              std::vector<GridAxis> axes;
              for (const std::uint32_t extent : extents) axes.push_back({extent, true});
              return stencil(axes, StencilShape::star, Bytes{1});
          }()),
          machine(make_machine(text)),
          allocation([&] {
              const ids<Slot> all(machine.slot_count());
              std::vector<Slot> slots(all.begin(), all.end());
              std::ranges::reverse(slots);
              return Allocation::of_slots(machine, slots);
          }()),
          problem(graph, allocation, 5, 1, {.imbalance = imbalance}) {}

    /// For each rank, the index of its slot in the allocation.
    std::vector<std::size_t> slot_of_each_rank(const std::string& mapper) const {
        const Placement placed = place(problem, mapper).placement;
        std::vector<std::size_t> found;
        for (const Slot slot : placed.slots()) {
            const auto at = std::ranges::find(allocation.slots(), slot);
            found.push_back(static_cast<std::size_t>(at - allocation.slots().begin()));
        }
        return found;
    }
    std::vector<std::size_t> ranks_per_slot(const std::string& mapper) const {
        std::vector<std::size_t> ranks(allocation.slot_count(), 0);
        for (const std::size_t place : slot_of_each_rank(mapper)) ++ranks[place];
        return ranks;
    }

    Extents extents;
    CommGraph graph;
    Machine machine;
    Allocation allocation;
    Problem problem;
};

}  // namespace

TEST_CASE("round-robin puts rank i on slot i mod slots, and random balances the numbers of ranks on slots") {
    const GridCase setting({10, 13}, "torus:3x4", 0);
    const auto places = setting.slot_of_each_rank("round-robin");
    for (std::size_t i = 0; i < places.size(); ++i) CHECK(places[i] == i % 12);
    const auto counts = setting.ranks_per_slot("random");
    CHECK(std::ranges::minmax(counts).min == 10);
    CHECK(std::ranges::minmax(counts).max == 11);
    CHECK(setting.slot_of_each_rank("random") != places);
}

TEST_CASE("hashed sums rotated coordinates like the Charm++ runtime") {
    const auto rotl = [](std::uint64_t x, int by) { return (x << by | x >> (32 - by)) & 0xFFFFFFFFU; };
    const GridCase plane({40, 30}, "torus:4x4", 9);
    const auto found = plane.slot_of_each_rank("hashed(grid=40x30)");
    for (std::uint64_t x = 0; x < 40; ++x) {
        for (std::uint64_t y = 0; y < 30; ++y) {
            const std::uint64_t h = (x + rotl(y, 21) + rotl(y, 16)) & 0xFFFFFFFFU;
            CHECK(found[x * 30 + y] == (h + 739) % 1280107 % 16);
        }
    }
    const GridCase line({100}, "torus:4x4", 9);
    CHECK(line.slot_of_each_rank("hashed") == line.slot_of_each_rank("round-robin"));
}

TEST_CASE("box i is on slot i, and the extents of boxes differ by at most one along every axis") {
    const GridCase setting({13, 7, 10}, "torus:4x6", 1);
    const auto places = setting.slot_of_each_rank("box(grid=13x7x10)");
    std::vector<std::array<std::set<std::size_t>, 3>> layers(24);
    for (std::size_t r = 0; r < places.size(); ++r) {
        const std::array<std::size_t, 3> at{r / 70, r / 10 % 7, r % 10};
        for (std::size_t i = 0; i < 3; ++i) layers[places[r]][i].insert(at[i]);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        std::set<std::size_t> sizes;
        for (const auto& box : layers) {
            sizes.insert(box[i].size());
            CHECK(*box[i].rbegin() - *box[i].begin() + 1 == box[i].size());
        }
        CHECK(*sizes.rbegin() - *sizes.begin() <= 1);
    }
    for (std::size_t s = 1; s < 24; ++s) {
        const auto first = [&](std::size_t box) {
            return std::array{*layers[box][0].begin(), *layers[box][1].begin(), *layers[box][2].begin()};
        };
        CHECK(first(s - 1) < first(s));
    }
}

TEST_CASE("box(slots=random) uses the same boxes in a random order of slots") {
    for (const Extents& extents : {Extents{13, 7, 10}, Extents{24, 24}, Extents{100}}) {
        const GridCase setting(extents, "torus:4x6", 1);
        const std::string grid = "grid=" + format_extents(extents);
        const auto in_order = setting.slot_of_each_rank("box(" + grid + ")");
        const auto random = setting.slot_of_each_rank("box(" + grid + ",slots=random)");
        CHECK(random != in_order);
        std::map<std::size_t, std::set<std::size_t>> slots_of_box;
        std::set<std::size_t> slots;
        for (std::size_t r = 0; r < random.size(); ++r) {
            slots_of_box[in_order[r]].insert(random[r]);
            slots.insert(random[r]);
        }
        CHECK(slots.size() == slots_of_box.size());
        for (const auto& [_, found] : slots_of_box) CHECK(found.size() == 1);
    }
}

TEST_CASE("of all factorizations that fit, the chosen boxes cut the fewest bytes") {
    for (const Extents& extents :
         {Extents{60, 100}, Extents{30, 4, 70}, Extents{12, 12, 12}, Extents{1000}}) {
        const GridCase setting(extents, "torus:4x4", 9);
        const RankGrid grid = rank_grid(setting.problem, extents, "box");
        const auto cut = [&](const Extents& boxes) {  // bytes in both directions; the ring is cut once more
            double bytes = 0;
            for (std::size_t i = 0; i < extents.size(); ++i) {
                if (boxes[i] > 1) bytes += 2.0 * boxes[i] * static_cast<double>(grid.cells()) / extents[i];
            }
            return bytes;
        };
        for (const std::uint32_t count : {2U, 12U, 16U, 30U, 36U}) {
            double least = std::numeric_limits<double>::infinity();
            for (std::uint32_t a = 1; a <= count; ++a) {
                for (std::uint32_t b = 1; b <= count / a; ++b) {
                    Extents boxes{a, b, count / a / b};
                    if (boxes[0] * boxes[1] * boxes[2] != count) continue;
                    const bool fits = std::ranges::all_of(std::array{0, 1, 2}, [&](int i) {
                        const auto axis = static_cast<std::size_t>(i);
                        return boxes[axis] <= (axis < extents.size() ? extents[axis] : 1);
                    });
                    if (!fits) continue;
                    boxes.resize(extents.size());
                    least = std::min(least, cut(boxes));
                }
            }
            CHECK(cut(grid::boxes_of_least_surface(grid, count)) == least);
        }
    }
}

TEST_CASE("if equal layers would overload a slot, boxes are cut by load instead") {
    // Layers would give boxes of 7 x 3 = 21 ranks; the share of a slot is 16.
    const GridCase setting({13, 7}, "torus:2x3", 0);
    const auto counts = setting.ranks_per_slot("box(grid=13x7)");
    CHECK(std::ranges::minmax(counts).min == 15);
    CHECK(std::ranges::minmax(counts).max == 16);
}
