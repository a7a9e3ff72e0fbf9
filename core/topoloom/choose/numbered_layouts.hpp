// SPDX-License-Identifier: BSD-3-Clause
// What the traffics of layouts send, by the digits of rank numbers that they count along, and how long that takes on a line.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "topoloom/choose/mesh_layout.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/place/grid/slot_lines.hpp"

namespace topoloom {

using AxisPieces = std::vector<AxisPiece>;
using AxisFlags = std::vector<bool>;

/// A digit of a rank's position along one axis.
struct Digit {
    std::uint32_t size;
    std::uint32_t stride;  // slots on the line
};

/// What a traffic's messages depend on, wherever its mesh lies: the sizes and strides of its digits, and a mark where rows
/// of several run back and forth.
using DigitKey = std::vector<std::uint32_t>;

/// A traffic as one layout numbers its ranks.
struct NumberedTraffic {
    std::vector<Digit> digits;        // of rank numbers, by axis of the traffic
    std::vector<std::uint32_t> axes;  // of the layout, that these are made of
    const std::vector<CommGraph>* phases;
};

struct NumberedLayout {
    std::vector<std::uint32_t> extents;
    bool solid;  // one piece that must not be divided, since views divide it differently
    std::vector<NumberedTraffic> traffic;
};

/// The digits of an axis, lowest first. Adjacent ones are one where the line does not turn between them; without going
/// back and forth turns make no difference.
[[nodiscard]] std::vector<Digit> digits_of(std::uint32_t axis, const AxisPieces& pieces,
                                           const grid::SlotLine& line, bool back_and_forth);

/// Adds digits whose rows all run forward; those that follow one another without a gap are one.
void append_digits(DigitKey& key, const std::vector<Digit>& digits);

/// The coarsest mesh that divides all views; empty if there is none of few axes.
[[nodiscard]] std::vector<std::uint32_t> common_mesh(const MeshLayout& layout);

/// The messages of every traffic in every layout, and their time on a line.
class MeshOnMachine {
   public:
    explicit MeshOnMachine(const Machine& machine) : machine_(machine) {}
    MeshOnMachine(const MeshOnMachine&) = delete;
    MeshOnMachine& operator=(const MeshOnMachine&) = delete;

    /// The axes of `extents` divide those of all views; without any, nothing can.
    void add(const MeshLayout& layout, std::vector<std::uint32_t> extents);
    [[nodiscard]] std::span<const NumberedLayout> layouts() const { return layouts_; }
    [[nodiscard]] std::size_t traffics() const { return phases_.size(); }

    [[nodiscard]] std::vector<Slot> slots(std::size_t layout, const grid::SlotLine& line,
                                          const AxisPieces& pieces, const AxisFlags& back_and_forth) const;
    [[nodiscard]] static std::size_t messages(const NumberedTraffic& traffic);
    [[nodiscard]] double seconds(const NumberedTraffic& traffic, std::span<const Slot> slot_of_rank) const;

   private:
    const Machine& machine_;
    std::vector<NumberedLayout> layouts_;
    std::vector<std::map<DigitKey, std::vector<CommGraph>>> phases_;  // by traffic; layouts share them
};

}  // namespace topoloom
