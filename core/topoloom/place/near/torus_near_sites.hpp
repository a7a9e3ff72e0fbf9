// SPDX-License-Identifier: BSD-3-Clause
// Near sites of a torus or mesh, by coordinate offsets in the order of their length.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "topoloom/machine/machine.hpp"
#include "topoloom/place/near/near_sites.hpp"
#include "topoloom/place/near/offset_shells.hpp"
#include "topoloom/place/near/scan_near_sites.hpp"
#include "topoloom/place/near/site_tree.hpp"
#include "topoloom/place/near/slot_sites.hpp"

namespace topoloom::near {

template <class Torus>
class TorusNearSites final : public NearSites {
   public:
    TorusNearSites(const Torus& torus, const Machine& machine, const SlotSites& sites, std::uint32_t count)
        : torus_(torus),
          machine_(machine),
          sites_(sites),
          shells_(axis_reaches(torus), std::clamp<std::size_t>(std::size_t{offsets_per_slot} * count, 256,
                                                               std::max<std::size_t>(256, sites.size()))),
          site_at_(torus.vertex_count(), no_index) {
        for (std::uint32_t site = 0; site < sites.size(); ++site)
            site_at_[torus.vertex(sites.nodes(site).front())] = site;
        std::int64_t stride = 1;
        for (std::size_t axis = torus.grid().size(); axis-- > 0;) {
            const std::int64_t extent = torus.grid()[axis];
            std::vector<std::int64_t>& term = term_[axis];
            for (std::int64_t x = -extent; x < 2 * extent; ++x) {
                const bool outside = x < 0 || x >= extent;
                const std::int64_t on_ring = x + (x < 0 ? extent : x >= extent ? -extent : 0);
                term.push_back(outside && !torus.wraps(static_cast<std::uint32_t>(axis)) ? no_router
                                                                                         : on_ring * stride);
            }
            stride *= extent;
        }
    }

    void find(std::uint32_t site, std::uint64_t slots, Found& found) const override {
        found.sites.clear();
        found.examined = 0;
        if (find_by_offsets(site, std::min<std::uint64_t>(slots, sites_.slots().size()), found)) return;
        std::call_once(remote_is_built_, [&] { remote_ = make_remote_search(); });
        remote_->find(site, slots, found);
    }

   private:
    /// After this number of offsets per wanted slot, other searches are faster.
    static constexpr std::uint32_t offsets_per_slot = 64;
    static constexpr std::size_t max_sites_to_scan = 2048;
    /// The term of a coordinate outside a mesh: makes any sum of terms negative.
    static constexpr std::int64_t no_router = -(std::int64_t{1} << 48);

    [[nodiscard]] static std::vector<AxisReach> axis_reaches(const Torus& torus) {
        std::vector<AxisReach> axes;
        for (std::uint32_t axis = 0; axis < torus.grid().size(); ++axis) {
            const auto extent = static_cast<std::int32_t>(torus.grid()[axis]);
            if (torus.wraps(axis)) {
                axes.push_back({(1 - extent) / 2, extent / 2});
            } else {
                axes.push_back({1 - extent, extent - 1});
            }
        }
        return axes;
    }

    [[nodiscard]] std::unique_ptr<NearSites> make_remote_search() const {
        if (sites_.size() <= max_sites_to_scan) return std::make_unique<ScanNearSites<Torus>>(torus_, sites_);
        return std::make_unique<SiteTree>(machine_, sites_);
    }

    [[nodiscard]] bool find_by_offsets(std::uint32_t site, std::uint64_t slots, Found& found) const {
        const std::size_t axes = torus_.grid().size();
        const auto from = torus_.point(sites_.nodes(site).front());
        std::array<const std::int64_t*, std::tuple_size_v<decltype(from.at)>> term;
        for (std::size_t axis = 0; axis < axes; ++axis)
            term[axis] = term_[axis].data() + torus_.grid()[axis] + from.at[axis];
        std::uint64_t have = 0;
        const auto examine = [&](std::uint32_t distance, std::size_t offset) {
            const std::int16_t* const step = shells_.offset(offset);
            std::int64_t router = 0;
            for (std::size_t axis = 0; axis < axes; ++axis) router += term[axis][step[axis]];
            if (router < 0 || site_at_[static_cast<std::size_t>(router)] == no_index) return;
            found.sites.push_back({site_at_[static_cast<std::size_t>(router)], distance});
            have += sites_.slot_count(found.sites.back().site);
        };
        for (std::uint32_t distance = 0; distance < shells_.size() && have < slots; ++distance) {
            const std::size_t begin = shells_.begin(distance);
            const std::size_t end = shells_.begin(distance + 1);
            const std::size_t first = begin + ((site * 0x9E37'79B1U) * std::uint64_t{end - begin} >> 32);
            for (std::size_t i = first; i < end && have < slots; ++i) examine(distance, i);
            for (std::size_t i = begin; i < first && have < slots; ++i) examine(distance, i);
            found.examined += end - begin;
        }
        return have >= slots;
    }

    const Torus& torus_;
    const Machine& machine_;
    const SlotSites& sites_;
    OffsetShells shells_;
    std::vector<std::uint32_t> site_at_;  // by router
    /// By axis and coordinate, from -extent to 2 * extent: what the coordinate adds to the router's number.
    std::array<std::vector<std::int64_t>, std::tuple_size_v<decltype(Torus::Point::at)>> term_;
    mutable std::once_flag remote_is_built_;
    mutable std::unique_ptr<NearSites> remote_;  // for sites that are far from most others
};

}  // namespace topoloom::near
