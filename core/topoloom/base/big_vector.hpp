// SPDX-License-Identifier: BSD-3-Clause
// Vectors for arrays of many megabytes: they ask the system for huge pages, which are made in a quarter of the time
// and miss the translation cache far less when they are read at random.
#pragma once

#include <cstddef>
#include <vector>

namespace topoloom {

/// Memory for this number of bytes; from 4 MiB on in huge pages where the system has them. Throws std::bad_alloc.
[[nodiscard]] void* allocate_big(std::size_t bytes);
void free_big(void* memory, std::size_t bytes) noexcept;

template <class T>
struct BigAllocator {
    using value_type = T;

    BigAllocator() = default;
    template <class Other>
    BigAllocator(const BigAllocator<Other>& /*other*/) {}

    T* allocate(std::size_t count) { return static_cast<T*>(allocate_big(count * sizeof(T))); }
    void deallocate(T* memory, std::size_t count) noexcept { free_big(memory, count * sizeof(T)); }
    friend bool operator==(const BigAllocator&, const BigAllocator&) { return true; }
};

template <class T>
using BigVector = std::vector<T, BigAllocator<T>>;

}  // namespace topoloom
