// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/allocations/curves.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "topoloom/base/extents.hpp"

namespace topoloom {

namespace {

/// Converts coordinates of `bits` bits into the transposed Hilbert index, in place (Skilling's AxestoTranspose).
void to_hilbert_index(std::vector<std::uint32_t>& x, std::uint32_t bits) {
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

/// The sort keys of points: one multi-word number per point, most significant 64-bit word first.
class CurveKeys {
   public:
    CurveKeys(Curve curve, std::span<const std::uint32_t> extents)
        : curve_(curve), extents_(extents.begin(), extents.end()) {
        for (const std::uint32_t extent : extents) {
            bits_ = std::max(bits_, static_cast<std::uint32_t>(std::bit_width(extent - 1)));
            trits_ = std::max(trits_, count_trits(extent));
        }
        const std::size_t width = curve == Curve::peano   ? std::size_t{2} * trits_
                                  : curve == Curve::snake ? std::size_t{32}
                                                          : std::size_t{bits_};
        words_ = std::max<std::size_t>(1, (extents.size() * width + 63) / 64);
    }

    void add(std::vector<std::uint32_t> at) {
        const std::size_t start = keys_.size();
        keys_.resize(start + words_, 0);
        std::size_t used = 0;
        const auto append = [&](std::uint64_t digit, std::size_t width) {  // widths divide 64
            keys_[start + used / 64] |= digit << (64 - width - used % 64);
            used += width;
        };
        switch (curve_) {
            case Curve::hilbert:
                to_hilbert_index(at, bits_);
                [[fallthrough]];
            case Curve::morton:
                for (std::uint32_t b = bits_; b-- > 0;) {
                    for (const std::uint32_t value : at) append(value >> b & 1U, 1);
                }
                return;
            case Curve::peano:
                append_peano_digits(at, append);
                return;
            case Curve::snake: {
                std::uint64_t slower = 0;  // sum of the previous coordinates, which is odd in every other row
                for (std::size_t i = 0; i < at.size(); ++i) {
                    append(slower % 2 == 1 ? extents_[i] - 1 - at[i] : at[i], 32);
                    slower += at[i];
                }
                return;
            }
        }
    }

    /// Returns the points sorted by key; points with equal keys keep their order.
    [[nodiscard]] std::vector<std::uint32_t> sort_points() const {
        std::vector<std::uint32_t> order(keys_.size() / words_);
        std::iota(order.begin(), order.end(), 0U);
        const auto key = [&](std::uint32_t i) { return std::span(keys_).subspan(i * words_, words_); };
        if (words_ == 1) {
            std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return keys_[i]; });
        } else {
            std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
                return std::ranges::lexicographical_compare(key(a), key(b));
            });
        }
        return order;
    }

   private:
    static std::uint32_t count_trits(std::uint32_t extent) {
        std::uint32_t trits = 0;
        for (std::uint64_t size = 1; size < extent; size *= 3) ++trits;
        return trits;
    }

    /// Appends the trits (base-3 digits) of all axes, most significant first. A trit is reflected if the
    /// previous trits of the other axes have an odd sum. Reflection preserves the parity of a trit.
    template <class Append>
    void append_peano_digits(const std::vector<std::uint32_t>& at, const Append& append) const {
        std::vector<std::uint32_t> own(at.size(), 0);  // sum of the trits of each axis
        std::uint32_t all = 0;
        std::uint32_t unit = 1;
        for (std::uint32_t t = 1; t < trits_; ++t) unit *= 3;
        for (std::uint32_t t = 0; t < trits_; ++t, unit /= 3) {
            for (std::size_t i = 0; i < at.size(); ++i) {
                const std::uint32_t trit = at[i] / unit % 3;
                append((all - own[i]) % 2 == 1 ? 2 - trit : trit, 2);
                own[i] += trit;
                all += trit;
            }
        }
    }

    Curve curve_;
    std::vector<std::uint32_t> extents_;
    std::uint32_t bits_ = 0;
    std::uint32_t trits_ = 0;
    std::size_t words_ = 1;
    std::vector<std::uint64_t> keys_;
};

}  // namespace

std::vector<std::uint32_t> sort_along_curve(Curve curve, const Allocation& allocation) {
    const Machine& machine = allocation.machine();
    // Nodes of one router have the same key, so sort them by id.
    std::vector<std::uint32_t> nodes(allocation.nodes().size());
    std::iota(nodes.begin(), nodes.end(), 0U);
    std::ranges::sort(nodes, {}, [&](std::uint32_t i) { return allocation.nodes()[i]; });
    CurveKeys keys(curve, machine.grid());
    for (const std::uint32_t i : nodes) keys.add(machine.coordinates(allocation.nodes()[i]));
    std::vector<std::uint32_t> number(nodes.size());  // the position of each node on the curve
    std::uint32_t next = 0;
    for (const std::uint32_t i : keys.sort_points()) number[nodes[i]] = next++;
    std::vector<std::uint32_t> order(allocation.slot_count());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(
        order, {}, [&](std::uint32_t position) { return number[allocation.node_of_slot()[position]]; });
    return order;
}

std::vector<std::uint32_t> sort_along_curve(Curve curve, std::span<const std::uint32_t> extents) {
    CurveKeys keys(curve, extents);
    for_each_cell(extents, [&](const Extents& at) { keys.add(at); });
    return keys.sort_points();
}

}  // namespace topoloom
