// SPDX-License-Identifier: BSD-3-Clause
// Hash table with 64-bit keys: open addressing, linear probing, no tombstones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace topoloom::objects {

template <typename Value>
class HashTable {
   public:
    [[nodiscard]] std::size_t size() const { return size_; }

    [[nodiscard]] Value* find(std::uint64_t key) {
        if (size_ == 0) return nullptr;
        for (std::size_t at = home_slot(key);; at = (at + 1) & mask()) {
            if (slots_[at].key == key) return &slots_[at].value;
            if (slots_[at].key == none) return nullptr;
        }
    }
    /// Returns the value of a key, and inserts it if needed. Invalidates pointers to other values.
    Value& operator[](std::uint64_t key) {
        if (Value* const found = find(key)) return *found;
        if (4 * (size_ + 1) > 3 * slots_.size()) grow();
        ++size_;
        return insert_new(key, Value{});
    }
    void erase(std::uint64_t key) {
        if (size_ == 0) return;
        std::size_t at = home_slot(key);
        while (slots_[at].key != key) {
            if (slots_[at].key == none) return;
            at = (at + 1) & mask();
        }
        --size_;
        // Move later entries back into the gap, unless they would precede their home slot.
        for (std::size_t next = (at + 1) & mask(); slots_[next].key != none; next = (next + 1) & mask()) {
            const std::size_t home = home_slot(slots_[next].key);
            if (((next - home) & mask()) < ((next - at) & mask())) continue;
            slots_[at] = std::move(slots_[next]);
            at = next;
        }
        slots_[at] = Slot{};
    }
    template <typename Visit>
    void for_each(const Visit& visit) {
        for (Slot& slot : slots_)
            if (slot.key != none) visit(slot.key, slot.value);
    }
    void clear() {
        slots_.clear();
        size_ = 0;
    }

    void serialize(auto& archive) {
        std::uint64_t count = size_;
        archive(count);
        if constexpr (std::remove_reference_t<decltype(archive)>::reads) {
            for (std::uint64_t i = 0; i < count; ++i) {
                std::uint64_t key = 0;
                archive(key);
                archive((*this)[key]);
            }
        } else {
            for_each([&](std::uint64_t key, Value& value) { archive(key, value); });
        }
    }

   private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};
    struct Slot {
        std::uint64_t key = none;
        Value value{};
    };
    [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
    [[nodiscard]] std::size_t home_slot(std::uint64_t key) const {
        // Fibonacci hashing spreads consecutive keys over the table.
        return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15) >> 32) & mask();
    }
    Value& insert_new(std::uint64_t key, Value&& value) {
        std::size_t at = home_slot(key);
        while (slots_[at].key != none) at = (at + 1) & mask();
        slots_[at] = Slot{key, std::move(value)};
        return slots_[at].value;
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? 8 : 2 * slots_.size());
        old.swap(slots_);
        for (Slot& slot : old)
            if (slot.key != none) insert_new(slot.key, std::move(slot.value));
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
};

}  // namespace topoloom::objects
