// SPDX-License-Identifier: BSD-3-Clause
// Coordinates packed into one word, so that one operation finds the axes on which two routers differ.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace topoloom {

/// Routers are numbered row-major: the last axis varies fastest. The first axis of `order` has the highest
/// bits; an axis of extent 1 has no bits. If all extents are powers of 2 and axes are in order, a router's
/// number is its key. Otherwise keys are stored in a table.
class PackedCoordinates {
   public:
    using Key = std::uint64_t;

    /// The product of the extents must be below 2^31, so keys have at most 40 bits.
    PackedCoordinates(std::span<const std::uint32_t> size, std::span<const std::uint32_t> order);

    [[nodiscard]] Key key(std::uint32_t router) const { return keys_.empty() ? router : keys_[router]; }
    /// The bit field of an axis in a key.
    struct Field {
        std::uint32_t axis = 0;
        std::uint32_t shift = 0;
        std::uint32_t mask = 0;
        std::uint32_t last = 0;  // the largest coordinate
        std::uint32_t step = 1;  // increment of the router's number per step along the axis
    };
    [[nodiscard]] const Field& field(std::size_t axis) const { return fields_[axis]; }
    [[nodiscard]] static std::uint32_t coordinate(Key key, const Field& field) {
        return static_cast<std::uint32_t>(key >> field.shift) & field.mask;
    }

    /// Mask with the highest bit of every axis whose coordinates differ between two keys.
    [[nodiscard]] Key mask_differing_axes(Key a, Key b) const {
        const Key x = a ^ b;
        return (((x & low_) + low_) | x) & high_;
    }
    /// The number of axes whose coordinates differ between two keys. Avoids popcnt, which not every x86-64
    /// processor supports.
    [[nodiscard]] std::uint32_t count_differing_axes(Key a, Key b) const {
        Key pairs = mask_differing_axes(a, b);
        pairs -= (pairs >> 1) & 0x5555'5555'5555'5555U;
        const Key fours = (pairs & 0x3333'3333'3333'3333U) + ((pairs >> 2) & 0x3333'3333'3333'3333U);
        const Key bytes = (fours + (fours >> 4)) & 0x0F0F'0F0F'0F0F'0F0FU;
        return static_cast<std::uint32_t>(bytes * 0x0101'0101'0101'0101U >> 56);
    }
    /// Calls use(field) for every axis whose coordinates differ, in routing order.
    template <class Use>
    void for_each_differing_field(Key a, Key b, const Use& use) const {
        for (Key rest = mask_differing_axes(a, b); rest != 0;) {
            const auto bit = 63 ^ static_cast<std::uint32_t>(__builtin_clzll(rest));  // a single instruction
            use(field_of_bit_[bit]);
            rest ^= Key{1} << bit;
        }
    }
    /// The axes with more than one coordinate, in routing order.
    [[nodiscard]] const std::vector<Field>& routed_fields() const { return routed_; }

   private:
    std::vector<Field> fields_;  // by axis
    std::vector<Field> routed_;
    std::array<Field, 64> field_of_bit_{};  // [highest bit of a field]: the field
    Key high_ = 0;                          // mask of the highest bits of all fields
    Key low_ = 0;                           // mask of all other bits
    std::vector<Key> keys_;
};

}  // namespace topoloom
