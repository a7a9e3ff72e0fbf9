// SPDX-License-Identifier: BSD-3-Clause
// Generates the messages of layouts' traffics from digits of rank numbers, and measures their time on a line
// of slots.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "topoloom/choose/group_times.hpp"
#include "topoloom/choose/mesh_layout.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/place/grid/slot_lines.hpp"

namespace topoloom {

using AxisPieces = std::vector<AxisPiece>;
using AxisFlags = std::vector<bool>;

/// A digit of a rank's position along one axis.
struct Digit {
    std::uint32_t size;
    std::uint32_t stride;  // stride in slots along the line
};

/// Everything that determines a traffic's messages: the sizes and strides of its digits, and a mark if rows
/// of several digits run back and forth.
using DigitKey = std::vector<std::uint32_t>;

/// A traffic in the rank numbering of one layout.
struct TrafficInDigits {
    std::vector<Digit> digits;        // digits of rank numbers, by axis of the traffic
    std::vector<std::uint32_t> axes;  // the layout's axes to which the digits belong
    const std::vector<CommGraph>* phases;
    ViewTraffic view;                     // the traffic as given
    std::size_t number;                   // of the traffic in its layout
    std::vector<CommGraph> group_phases;  // phases of a group alone; empty if it keeps line rates
};

struct LayoutInDigits {
    std::vector<std::uint32_t> extents;
    bool solid;  // whether the ranks are one indivisible piece, as views divide them differently
    std::vector<TrafficInDigits> traffic;
};

/// The digits of an axis, lowest first. Merges digits that are adjacent on the line; if rows run back and
/// forth, only where the line does not turn between them.
[[nodiscard]] std::vector<Digit> list_digits(std::uint32_t axis, const AxisPieces& pieces,
                                             const grid::SlotLine& line, bool back_and_forth);

/// Appends digits whose rows all run forward to a key; merges digits that follow each other without a gap.
void append_digits(DigitKey& key, const std::vector<Digit>& digits);

/// The sizes of the parts of rows that digits fill, lowest digit first. A digit that spans several rows has a
/// part for each dimension.
[[nodiscard]] std::vector<std::uint32_t> list_row_parts(const std::vector<Digit>& digits,
                                                        const grid::SlotLine& line);

/// The coarsest mesh that divides all views; empty if it has too many axes.
[[nodiscard]] std::vector<std::uint32_t> find_common_mesh(const MeshLayout& layout);

/// The messages of every traffic in every layout, and their time on a line of slots.
class LayoutEvaluator {
   public:
    LayoutEvaluator(const Machine& machine, const GroupTimes& times) : machine_(machine), times_(times) {}
    LayoutEvaluator(const LayoutEvaluator&) = delete;
    LayoutEvaluator& operator=(const LayoutEvaluator&) = delete;

    /// `extents` is a mesh that divides all views; empty if the layout is indivisible.
    void add_layout(const MeshLayout& layout, std::vector<std::uint32_t> extents);
    [[nodiscard]] std::span<const LayoutInDigits> layouts() const { return layouts_; }
    [[nodiscard]] std::size_t traffic_count() const { return phases_.size(); }

    [[nodiscard]] std::vector<Slot> place_ranks(std::size_t layout, const grid::SlotLine& line,
                                                const AxisPieces& pieces,
                                                const AxisFlags& back_and_forth) const;
    [[nodiscard]] static std::size_t count_messages(const TrafficInDigits& traffic);
    [[nodiscard]] double measure_seconds(const TrafficInDigits& traffic,
                                         std::span<const Slot> slot_of_rank) const;
    /// The time at line rates of a ring traffic whose rings have this shape.
    [[nodiscard]] double measure_seconds(const TrafficInDigits& traffic,
                                         const std::vector<std::uint32_t>& ring_shape,
                                         std::span<const Slot> slot_of_rank) const;

   private:
    [[nodiscard]] double measure_phases(std::span<const CommGraph> phases,
                                        std::span<const Slot> slot_of_rank) const;
    /// The time of the slowest group alone by times_, relative to its time at line rates.
    [[nodiscard]] double compare_with_line_rates(const TrafficInDigits& traffic,
                                                 std::span<const Slot> slot_of_rank) const;

    const Machine& machine_;
    const GroupTimes& times_;
    std::vector<LayoutInDigits> layouts_;
    std::vector<std::map<DigitKey, std::vector<CommGraph>>> phases_;  // by traffic; shared by all layouts
};

}  // namespace topoloom
