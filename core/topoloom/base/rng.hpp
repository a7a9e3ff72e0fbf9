// SPDX-License-Identifier: BSD-3-Clause
// A copyable random number generator (Philox4x32-10). Its numbers are the same on every machine and for any
// number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace topoloom {

/// One block of Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3. SC
/// 2011).
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                            std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
                   static_cast<std::uint32_t>(product1),
                   static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
                   static_cast<std::uint32_t>(product0)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

/// A stream of random numbers fixed by (seed, stream). Copy it to replay it; streams never overlap.
class Rng {
   public:
    explicit Rng(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

    [[nodiscard]] std::uint32_t next() {
        if (used_ == 4) {
            block_ = philox({static_cast<std::uint32_t>(index_), static_cast<std::uint32_t>(index_ >> 32),
                             static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                            {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
            ++index_;
            used_ = 0;
        }
        return block_[used_++];
    }

    /// Uniform in 0 .. bound-1, without bias (Lemire 2019). `bound` must be positive.
    [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
        std::uint64_t product = std::uint64_t{next()} * bound;
        if (static_cast<std::uint32_t>(product) < bound) {
            const std::uint32_t threshold = (0U - bound) % bound;
            while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{next()} * bound;
        }
        return static_cast<std::uint32_t>(product >> 32);
    }

    /// A uniform random number in [0, 1) with 53 random bits.
    [[nodiscard]] double uniform() {
        const std::uint64_t high = next();
        const std::uint64_t bits = (high << 21) ^ (next() >> 11);
        return static_cast<double>(bits) * 0x1.0p-53;
    }

    template <class T>
    void shuffle(std::span<T> items) {
        for (std::size_t i = items.size(); i > 1; --i) {
            std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
        }
    }

   private:
    std::uint64_t seed_;
    std::uint64_t stream_;
    std::uint64_t index_ = 0;
    std::array<std::uint32_t, 4> block_{};
    std::size_t used_ = 4;
};

}  // namespace topoloom
