// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/near/make_near_sites.hpp"

#include <type_traits>

#include "topoloom/place/near/scan_near_sites.hpp"
#include "topoloom/place/near/torus_near_sites.hpp"
#include "topoloom/place/near/tree_near_sites.hpp"

namespace topoloom::near {

std::unique_ptr<NearSites> make_near_sites(const Allocation& allocation, const SlotSites& sites,
                                           std::uint32_t count) {
    return with_geometry(
        allocation.machine(), [&]<class Network>(const Network& network) -> std::unique_ptr<NearSites> {
            if constexpr (std::is_same_v<Network, Tree>) {
                return std::make_unique<TreeNearSites>(network, sites);
            } else if constexpr (std::is_same_v<Network, HopTable>) {
                return std::make_unique<ScanNearSites<Network>>(network, sites);
            } else {
                return std::make_unique<TorusNearSites<Network>>(network, allocation.machine(), sites, count);
            }
        });
}

}  // namespace topoloom::near
