// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/geometry/packed_coordinates.hpp"

#include <algorithm>

namespace topoloom {

PackedCoordinates::PackedCoordinates(std::span<const std::uint32_t> size,
                                     std::span<const std::uint32_t> order)
    : fields_(size.size()) {
    std::uint32_t routers = 1;
    for (std::size_t d = size.size(); d-- > 0;) {
        fields_[d].axis = static_cast<std::uint32_t>(d);
        fields_[d].last = size[d] - 1;
        fields_[d].step = routers;
        routers *= size[d];
    }
    std::uint32_t bits = 0;
    for (std::size_t i = order.size(); i-- > 0;) {
        Field& field = fields_[order[i]];
        const auto width = static_cast<std::uint32_t>(std::bit_width(size[order[i]] - 1));
        field.shift = bits;
        field.mask = (1U << width) - 1;
        bits += width;
        if (width == 0) continue;
        field_of_bit_[bits - 1] = field;
        high_ |= Key{1} << (bits - 1);
        routed_.insert(routed_.begin(), field);
    }
    low_ = ((Key{1} << bits) - 1) ^ high_;
    const bool own_key = std::ranges::all_of(
        fields_, [](const Field& f) { return f.mask == 0 || Key{1} << f.shift == f.step; });
    if (own_key) return;
    keys_.assign(routers, 0);
    for (std::size_t d = 0; d < size.size(); ++d) {
        const Field& field = fields_[d];
        for (std::uint32_t router = 0; router < routers; ++router)
            keys_[router] |= Key{router / field.step % size[d]} << field.shift;
    }
}

}  // namespace topoloom
