// SPDX-License-Identifier: BSD-3-Clause
// Indices of objects, operations of reductions, and compile-time information about methods: their names,
// parameters and numbers.
#ifndef TOPOLOOM_METHODS_HPP
#define TOPOLOOM_METHODS_HPP

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "topoloom_archive.hpp"

namespace topoloom {

/// Position of an object in its array; missing axes are 0.
struct Index {
    std::int64_t x = 0, y = 0, z = 0;
    constexpr Index() = default;
    constexpr Index(std::integral auto first) : x(static_cast<std::int64_t>(first)) {}
    constexpr Index(std::integral auto first, std::integral auto second)
        : x(static_cast<std::int64_t>(first)), y(static_cast<std::int64_t>(second)) {}
    constexpr Index(std::integral auto first, std::integral auto second, std::integral auto third)
        : Index(first, second) {
        z = static_cast<std::int64_t>(third);
    }
    friend constexpr auto operator<=>(const Index&, const Index&) = default;
};

/// Operations that combine two values in a reduction. Vectors and arrays are combined element by element.
struct sum {};
struct product {};
struct min {};
struct max {};
struct all {};  ///< logical and of all values
struct any {};
struct join {};  ///< concatenates vectors, in any order

namespace objects {

/// Extracts the argument of template parameter `named` from __PRETTY_FUNCTION__.
constexpr std::string_view extract_name(std::string_view text) {
    constexpr std::string_view before = "named = ";
    const std::size_t begin = text.find(before) + before.size();
    std::string_view name = text.substr(begin, text.find_first_of(";]", begin) - begin);
    if (name.starts_with('&')) name.remove_prefix(1);
    if (name.starts_with('(') && name.find(')') != name.npos) name = name.substr(0, name.find(')')).substr(1);
    return name;
}
template <auto named>
constexpr std::string_view method_name() {
    return extract_name(__PRETTY_FUNCTION__);
}
template <typename named>
constexpr std::string_view type_name() {
    return extract_name(__PRETTY_FUNCTION__);
}

template <typename>
struct Signature;
template <typename Class, typename Result, typename... Parameters>
struct Signature<Result (Class::*)(Parameters...)> {
    using Values = std::tuple<std::decay_t<Parameters>...>;
    static constexpr std::size_t count = sizeof...(Parameters);
};
template <typename Class, typename Result, typename... Parameters>
struct Signature<Result (Class::*)(Parameters...) noexcept> : Signature<Result (Class::*)(Parameters...)> {};

template <auto method>
using ValuesOf = typename Signature<decltype(method)>::Values;

template <auto method>
struct Constant {};

template <typename>
inline constexpr int operation_of = -1;
template <>
inline constexpr int operation_of<sum> = 0;
template <>
inline constexpr int operation_of<product> = 1;
template <>
inline constexpr int operation_of<min> = 2;
template <>
inline constexpr int operation_of<max> = 3;
template <>
inline constexpr int operation_of<all> = 4;
template <>
inline constexpr int operation_of<any> = 5;
template <>
inline constexpr int operation_of<join> = 6;
template <typename T>
concept Operation = operation_of<T> >= 0;

/// Combines b into a. Returns false if the type does not support the operation.
template <typename T>
bool combine_values(int operation, T& a, const T& b);

template <typename List>
bool combine_elements(int operation, List& a, const List& b) {
    if constexpr (is_a<List, std::vector>) {
        if (operation == operation_of<join>) {
            a.insert(a.end(), b.begin(), b.end());
            return true;
        }
        if (a.size() != b.size()) throw ObjectsError("a reduction of vectors whose lengths differ");
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto one = a[i];
        if (!combine_values(operation, one, static_cast<decltype(one)>(b[i]))) return false;
        a[i] = one;
    }
    return true;
}

template <typename T>
bool combine_values(int operation, T& a, const T& b) {
    if constexpr (is_a<T, std::vector> || is_array<T>) {
        return combine_elements(operation, a, b);
    } else {
        if constexpr (requires {
                          { a + b } -> std::convertible_to<T>;
                      })
            if (operation == operation_of<sum>) return a = static_cast<T>(a + b), true;
        if constexpr (requires {
                          { a * b } -> std::convertible_to<T>;
                      })
            if (operation == operation_of<product>) return a = static_cast<T>(a * b), true;
        if constexpr (requires {
                          { b < a } -> std::convertible_to<bool>;
                      }) {
            if (operation == operation_of<min>) return a = b < a ? b : a, true;
            if (operation == operation_of<max>) return a = a < b ? b : a, true;
        }
        if constexpr (requires { static_cast<T>(static_cast<bool>(a) && static_cast<bool>(b)); }) {
            if (operation == operation_of<all>) return a = static_cast<T>(a && b), true;
            if (operation == operation_of<any>) return a = static_cast<T>(a || b), true;
        }
        return false;
    }
}

template <typename T>
bool combine_packed(int operation, std::vector<char>& first, const char* second, std::size_t bytes) {
    T a{}, b{};
    Reader reads_a(first.data(), first.size()), reads_b(second, bytes);
    reads_a(a);
    reads_b(b);
    if (!combine_values(operation, a, b)) return false;
    first.resize(packed_size(a));
    Writer(first.data())(a);
    return true;
}

}  // namespace objects

/// Lists the methods of a type that can be called by messages: `using methods = topoloom::Methods<&Cell::take,
/// &Cell::step>;`
template <auto... listed>
struct Methods {
    static constexpr std::size_t count = sizeof...(listed);

    template <auto method>
    static constexpr std::size_t get_number() {
        constexpr bool found[] = {std::is_same_v<objects::Constant<method>, objects::Constant<listed>>...,
                                  true};
        return static_cast<std::size_t>(std::find(std::begin(found), std::end(found), true) -
                                        std::begin(found));
    }
    template <typename Visit>
    static constexpr auto apply_to_all(Visit&& visit) {
        return visit.template operator()<listed...>();
    }
};

}  // namespace topoloom

#endif
