// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/hilbert.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace topoloom {

namespace {

/// Turns coordinates of `bits` bits into the transposed Hilbert index, in place (Skilling's AxestoTranspose).
void to_transposed_index(std::vector<std::uint32_t>& x, std::uint32_t bits) {
    const std::size_t n = x.size();
    if (bits == 0) return;
    const std::uint32_t top = 1U << (bits - 1);
    for (std::uint32_t q = top; q > 1; q >>= 1) {  // inverse undo
        const std::uint32_t low = q - 1;
        for (std::size_t i = 0; i < n; ++i) {
            if (x[i] & q) {
                x[0] ^= low;
            } else {
                const std::uint32_t flip = (x[0] ^ x[i]) & low;
                x[0] ^= flip;
                x[i] ^= flip;
            }
        }
    }
    for (std::size_t i = 1; i < n; ++i) x[i] ^= x[i - 1];  // Gray encode
    std::uint32_t flip = 0;
    for (std::uint32_t q = top; q > 1; q >>= 1) {
        if (x[n - 1] & q) flip ^= q - 1;
    }
    for (std::uint32_t& value : x) value ^= flip;
}

/// The index itself: bit by bit from the top, one from every axis; packed into 64-bit words, most significant first.
void append_key(const std::vector<std::uint32_t>& transposed, std::uint32_t bits, std::size_t words,
                std::vector<std::uint64_t>& keys) {
    const std::size_t start = keys.size();
    keys.resize(start + words, 0);
    std::size_t at = 0;
    for (std::uint32_t b = bits; b-- > 0;) {
        for (const std::uint32_t value : transposed) {
            keys[start + at / 64] |= std::uint64_t{value >> b & 1U} << (63 - at % 64);
            ++at;
        }
    }
}

}  // namespace

std::vector<std::uint32_t> hilbert_order(const Allocation& allocation) {
    const Machine& machine = allocation.machine();
    std::uint32_t bits = 0;
    for (const std::uint32_t extent : machine.grid()) {
        bits = std::max(bits, static_cast<std::uint32_t>(std::bit_width(extent - 1)));
    }
    const std::size_t words = std::max<std::size_t>(1, (machine.grid().size() * bits + 63) / 64);
    std::vector<std::uint64_t> keys;  // one per node of the allocation
    for (const Node node : allocation.nodes()) {
        std::vector<std::uint32_t> x = machine.coordinates(node);
        to_transposed_index(x, bits);
        append_key(x, bits, words, keys);
    }
    std::vector<std::uint32_t> order(allocation.slot_count());
    std::iota(order.begin(), order.end(), 0U);
    const auto index = [&](std::uint32_t position) { return allocation.node_of_slot()[position]; };
    const auto key = [&](std::uint32_t position) { return keys.data() + index(position) * words; };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        const auto [x, y] = std::mismatch(key(a), key(a) + words, key(b));
        if (x != key(a) + words) return *x < *y;
        return allocation.nodes()[index(a)] <
               allocation.nodes()[index(b)];  // nodes of one router have one key
    });
    return order;
}

}  // namespace topoloom
