// SPDX-License-Identifier: BSD-3-Clause
// Allocates scratch memory while a program is compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topoloom/execute/rank_program.hpp"

namespace topoloom {

/// First fit. Released memory is available again from the next reuse() on: until then messages may still use it.
class Scratch {
   public:
    using Area = std::uint32_t;
    static constexpr Area none = no_index;

    /// Without holders: freed by the next reuse() unless held by then.
    Area allocate(std::int64_t units);
    [[nodiscard]] Location place(Area area) const { return {Memory::scratch, areas_[area].offset}; }
    void hold(Area area) { ++areas_[area].holders; }
    void release(Area area) { --areas_[area].holders; }
    void reuse();
    [[nodiscard]] std::int64_t units() const { return units_; }

   private:
    struct Extent {
        std::int64_t offset, units;
        std::uint32_t holders = 0;
    };

    std::vector<Extent> areas_;  // all that ever were
    std::vector<Area> used_;     // by offset
    std::int64_t units_ = 0;
};

}  // namespace topoloom
