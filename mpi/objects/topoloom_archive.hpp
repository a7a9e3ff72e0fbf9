// SPDX-License-Identifier: BSD-3-Clause
// Archives: a single function `serialize` of a type is used to compute its size, pack it and unpack it.
//
//     struct Particle {
//         double mass;
//         std::vector<double> trace;
//         void serialize(auto& archive) { archive(mass, trace); }
//     };
//
// Trivially copyable types need no `serialize`. Pointers, iterators and views are rejected, also in arrays,
// optionals, pairs, tuples and variants. Plain structs must not contain any of these either, but C++ cannot
// check their members.
#ifndef TOPOLOOM_ARCHIVE_HPP
#define TOPOLOOM_ARCHIVE_HPP

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace topoloom {

/// An error of an object. what() contains the object, the method and the cause.
class ObjectsError : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
};

namespace objects {

template <typename>
inline constexpr bool always_false = false;
template <typename, template <typename...> class>
inline constexpr bool is_a = false;
template <template <typename...> class Template, typename... Parts>
inline constexpr bool is_a<Template<Parts...>, Template> = true;
template <typename>
inline constexpr bool is_array = false;
template <typename T, std::size_t size>
inline constexpr bool is_array<std::array<T, size>> = true;
/// Whether a type refers to memory of its process, or contains such a type.
template <typename T>
inline constexpr bool holds_reference =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T> ||
    is_a<T, std::reference_wrapper> || std::input_or_output_iterator<T> || std::ranges::view<T>;
template <typename T>
inline constexpr bool holds_reference<const T> = holds_reference<T>;
template <typename T, std::size_t size>
inline constexpr bool holds_reference<T[size]> = holds_reference<T>;
template <typename T, std::size_t size>
inline constexpr bool holds_reference<std::array<T, size>> = holds_reference<T>;
template <typename T>
inline constexpr bool holds_reference<std::optional<T>> = holds_reference<T>;
template <typename... Parts>
inline constexpr bool holds_reference<std::pair<Parts...>> = (holds_reference<Parts> || ...);
template <typename... Parts>
inline constexpr bool holds_reference<std::tuple<Parts...>> = (holds_reference<Parts> || ...);
template <typename... Parts>
inline constexpr bool holds_reference<std::variant<Parts...>> = (holds_reference<Parts> || ...);

template <typename T, typename Archive>
concept SerializesItself = requires(T& value, Archive& archive) { value.serialize(archive); };

template <typename T>
concept Plain = std::is_trivially_copyable_v<T> && !holds_reference<T> && !std::is_empty_v<T>;

/// Whether a type is a view that messages support: its elements are copied into the message, and the view
/// that the method gets is valid during its call.
template <typename>
inline constexpr bool is_view = false;
template <typename T>
inline constexpr bool is_view<std::span<const T>> = Plain<T>;

template <typename... Values>
[[nodiscard]] std::size_t packed_size(const Values&... values);

template <typename Archive, typename T>
void serialize_item(Archive& archive, T& value);

template <typename Archive, typename T>
void serialize_elements(Archive& archive, std::vector<T>& values) {
    std::uint64_t count = values.size();
    archive.transfer_bytes(&count, sizeof count);
    if constexpr (Archive::reads) {
        // detect a corrupt count before allocating memory, if elements have at least one byte
        if (count > archive.remaining_bytes() && packed_size(T{}) > 0) archive.require_bytes(count);
        values.resize(count);
    }
    if constexpr (Plain<T> && !std::is_same_v<T, bool> && !SerializesItself<T, Archive>) {
        if (count > 0) archive.transfer_bytes(values.data(), count * sizeof(T));
    } else {
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (std::is_same_v<T, bool>) {
                bool bit = values[i];
                archive.transfer_bytes(&bit, sizeof bit);
                values[i] = bit;
            } else {
                serialize_item(archive, values[i]);
            }
        }
    }
}

template <typename Archive, typename T>
void serialize_view(Archive& archive, std::span<const T>& view) {
    std::uint64_t count = view.size();
    archive.transfer_bytes(&count, sizeof count);
    archive.align(alignof(T));
    if constexpr (Archive::reads) {
        view = {reinterpret_cast<const T*>(archive.skip(count, sizeof(T))), static_cast<std::size_t>(count)};
    } else if (count > 0) {
        archive.transfer_bytes(view.data(), count * sizeof(T));
    }
}

template <typename Archive, typename Map>
void serialize_map(Archive& archive, Map& map) {
    std::uint64_t count = map.size();
    archive.transfer_bytes(&count, sizeof count);
    if constexpr (Archive::reads) {
        map.clear();
        for (std::uint64_t i = 0; i < count; ++i) {
            std::pair<typename Map::key_type, typename Map::mapped_type> entry;
            archive(entry.first, entry.second);
            map.insert(std::move(entry));
        }
    } else {
        for (auto& [key, value] : map) archive(const_cast<typename Map::key_type&>(key), value);
    }
}

template <typename Archive>
void serialize_string(Archive& archive, std::string& text) {
    std::uint64_t count = text.size();
    archive.transfer_bytes(&count, sizeof count);
    if constexpr (Archive::reads) {
        archive.require_bytes(count);
        text.resize(count);
    }
    archive.transfer_bytes(text.data(), count);
}

template <typename Archive, typename T>
void serialize_optional(Archive& archive, std::optional<T>& value) {
    bool has = value.has_value();
    archive.transfer_bytes(&has, sizeof has);
    if constexpr (Archive::reads) {
        if (has)
            value.emplace();
        else
            value.reset();
    }
    if (has) serialize_item(archive, *value);
}

template <typename Archive, typename T>
void serialize_item(Archive& archive, T& value) {
    if constexpr (SerializesItself<T, Archive>) {
        value.serialize(archive);
    } else if constexpr (is_view<T>) {
        serialize_view(archive, value);
    } else if constexpr (Plain<T>) {
        archive.transfer_bytes(&value, sizeof value);
    } else if constexpr (std::is_empty_v<T>) {
    } else if constexpr (is_a<T, std::vector>) {
        serialize_elements(archive, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
        serialize_string(archive, value);
    } else if constexpr (is_a<T, std::pair> || is_a<T, std::tuple>) {
        std::apply([&](auto&... parts) { archive(parts...); }, value);
    } else if constexpr (is_array<T> || std::is_array_v<T>) {
        for (auto& one : value) serialize_item(archive, one);
    } else if constexpr (is_a<T, std::map>) {
        serialize_map(archive, value);
    } else if constexpr (is_a<T, std::optional>) {
        serialize_optional(archive, value);
    } else {
        static_assert(always_false<T>,
                      "topoloom: this type cannot be serialized; give it a member function "
                      "`void serialize(auto& archive) { archive(first, second); }` that lists its members, "
                      "without pointers and views");
    }
}

/// Counts the bytes that a Writer needs.
class Sizer {
   public:
    static constexpr bool reads = false;
    template <typename... Values>
    void operator()(Values&... values) {
        (serialize_item(*this, const_cast<std::remove_const_t<Values>&>(values)), ...);
    }
    void transfer_bytes(const void*, std::size_t bytes) { bytes_ += bytes; }
    void align(std::size_t to) { bytes_ = (bytes_ + to - 1) / to * to; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

   private:
    std::size_t bytes_ = 0;
};

/// Packs values into memory of sufficient size.
class Writer {
   public:
    static constexpr bool reads = false;
    explicit Writer(char* begin) : begin_(begin), at_(begin) {}
    template <typename... Values>
    void operator()(Values&... values) {
        (serialize_item(*this, const_cast<std::remove_const_t<Values>&>(values)), ...);
    }
    void transfer_bytes(const void* from, std::size_t bytes) {
        if (bytes > 0) std::memcpy(at_, from, bytes);
        at_ += bytes;
    }
    void align(std::size_t to) {
        while (static_cast<std::size_t>(at_ - begin_) % to != 0) *at_++ = 0;
    }

   private:
    char* begin_;
    char* at_;
};

/// Unpacks values packed by a Writer. Throws ObjectsError at the end of the data.
class Reader {
   public:
    static constexpr bool reads = true;
    Reader(const char* begin, std::size_t bytes) : begin_(begin), at_(begin), end_(begin + bytes) {}
    template <typename... Values>
    void operator()(Values&... values) {
        (serialize_item(*this, values), ...);
    }
    void transfer_bytes(void* to, std::size_t bytes) {
        require_bytes(bytes);
        if (bytes > 0) std::memcpy(to, at_, bytes);
        at_ += bytes;
    }
    void align(std::size_t to) {
        const std::size_t over = static_cast<std::size_t>(at_ - begin_) % to;
        if (over != 0) skip(to - over, 1);
    }
    const char* skip(std::uint64_t count, std::size_t size) {
        require_bytes(count * size);
        return std::exchange(at_, at_ + count * size);
    }
    void require_bytes(std::uint64_t bytes) const {
        if (bytes > static_cast<std::uint64_t>(end_ - at_))
            throw ObjectsError("a message is too short: its `serialize` reads more than it has written");
    }
    [[nodiscard]] std::size_t remaining_bytes() const { return static_cast<std::size_t>(end_ - at_); }

   private:
    const char* begin_;
    const char* at_;
    const char* end_;
};

template <typename... Values>
[[nodiscard]] std::size_t packed_size(const Values&... values) {
    Sizer sizer;
    sizer(values...);
    return sizer.bytes();
}

}  // namespace objects
}  // namespace topoloom

#endif
