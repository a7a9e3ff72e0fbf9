// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/notation/axis_notation.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include "topoloom/machine/geometry/axis_name.hpp"
#include "topoloom/machine/notation/topology_notation.hpp"

namespace topoloom {

namespace {

/// The axis in a key such as `bandwidth.y`, and the direction if `+` or `-` follows: 0 for +, 1 for -.
struct AxisDirection {
    std::uint32_t axis;
    std::optional<std::size_t> direction;
};

AxisDirection read_axis_direction(const TextPiece& piece, std::size_t axes) {
    const std::string_view name = piece.text();
    if (!name.ends_with('+') && !name.ends_with('-')) return {read_axis(piece, axes), std::nullopt};
    return {read_axis(piece.sub(name.substr(0, name.size() - 1)), axes), name.ends_with('+') ? 0 : 1};
}

template <class Quantity>
void set_axis(std::vector<std::array<Quantity, 2>>& values, const AxisDirection& where, Quantity value) {
    for (const std::size_t direction : {0U, 1U}) {
        if (!where.direction || *where.direction == direction) values[where.axis][direction] = value;
    }
}

}  // namespace

std::uint32_t read_axis(const TextPiece& name, std::size_t axes) {
    const std::string_view text = name.text();
    const std::size_t letter = text.size() == 1 ? axis_letters.find(text[0]) : std::string_view::npos;
    const bool named = letter != std::string_view::npos;
    if (!text.empty()) {
        const std::uint32_t axis = named ? static_cast<std::uint32_t>(letter) : name.number();
        if (axis < axes) return axis;
    }
    name.reject("expected one of the ", axes, " axes (x, y, z, a ... or 0, 1, 2 ...)");
}

AxisQuantities read_axis_quantities(const Section& section, std::size_t axes) {
    BytesPerSecond standard{1};
    Seconds latency{0};
    for (const auto& [key, value] : section.options) {
        if (key.text() == "bandwidth") standard = read_quantity(value, parse_bandwidth);
        if (key.text() == "latency") latency = read_quantity(value, parse_time);
    }
    AxisQuantities result;
    result.bandwidth.assign(axes, {standard, standard});
    result.latency.assign(axes, {latency, latency});
    for (const auto& [key, value] : section.options) {
        const auto [name, axis] = key.cut('.');
        if (!axis || is_host_option(key)) continue;
        if (name.text() == "bandwidth")
            set_axis(result.bandwidth, read_axis_direction(*axis, axes), read_bandwidth(value, standard));
        if (name.text() == "latency")
            set_axis(result.latency, read_axis_direction(*axis, axes), read_quantity(value, parse_time));
    }
    return result;
}

}  // namespace topoloom
