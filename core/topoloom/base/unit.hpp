// SPDX-License-Identifier: BSD-3-Clause
// Quantities that carry their unit: bytes, seconds, bytes per second.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace topoloom {

/// A number with a unit. Quantities of the same unit can be added and compared; those of different units
/// cannot.
template <class Unit, class Number>
struct Quantity {
    Number value{};

    constexpr Quantity() = default;
    constexpr explicit Quantity(Number v) : value(v) {}

    constexpr Quantity& operator+=(Quantity other) {
        value += other.value;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) {
        value -= other.value;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.value + b.value}; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value - b.value}; }
    friend constexpr Quantity operator*(Quantity a, Number factor) { return Quantity{a.value * factor}; }
    friend constexpr Quantity operator*(Number factor, Quantity a) { return a * factor; }
    friend constexpr auto operator<=>(Quantity, Quantity) = default;
};

using Bytes = Quantity<struct ByteUnit, std::int64_t>;
using Seconds = Quantity<struct SecondUnit, double>;
using BytesPerSecond = Quantity<struct ByteRateUnit, double>;

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) {
    return Seconds{static_cast<double>(amount.value) / rate.value};
}

/// Reads `"9.4 GB/s"`, `"25GBps"`, `"100 Gbit/s"` or a bare number of bytes per second.
/// k, M, G, T are powers of 1000; Ki, Mi, Gi, Ti powers of 1024. Throws Error unless positive and finite.
[[nodiscard]] BytesPerSecond parse_bandwidth(std::string_view text);

/// Reads `"1.3 us"`, `"90ns"`, `"2 ms"`, `"1 s"` or a bare number of seconds. Throws Error if negative.
[[nodiscard]] Seconds parse_time(std::string_view text);

}  // namespace topoloom
