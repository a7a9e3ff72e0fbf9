// SPDX-License-Identifier: BSD-3-Clause
// Allocates scratch memory while a program is compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/execute/rank_program.hpp"

namespace topoloom {

/// A first-fit allocator. Released areas are freed only by free_released(), because messages in flight may
/// still use them.
class Scratch {
   public:
    using Area = std::uint32_t;
    static constexpr Area none = no_index;

    /// Allocates an area. The next free_released() frees the area unless retain() was called.
    Area allocate(std::int64_t units);
    [[nodiscard]] Location location(Area area) const { return {ProgramBuffer::scratch, areas_[area].offset}; }
    void retain(Area area) { ++areas_[area].holders; }
    void release(Area area) { --areas_[area].holders; }
    void free_released();
    [[nodiscard]] std::int64_t units() const { return units_; }

   private:
    struct ScratchArea {
        std::int64_t offset, units;
        std::uint32_t holders = 0;
    };

    std::vector<ScratchArea> areas_;  // all areas ever allocated, including freed ones
    std::vector<Area> used_;          // by offset
    std::int64_t units_ = 0;
};

}  // namespace topoloom
