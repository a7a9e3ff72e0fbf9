// SPDX-License-Identifier: BSD-3-Clause
// Adds value semantics to Python classes: ==, hash, and pickling.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "call_python.hpp"

namespace topoloom::python {

/// Truncates the text to `longest` characters.
[[nodiscard]] inline std::string truncate_text(std::string_view text, std::size_t longest = 60) {
    return text.size() <= longest ? std::string(text) : std::string(text.substr(0, longest)) + "...";
}

/// The hash of a text and a list of ids.
template <class... Ids>
[[nodiscard]] std::size_t hash_of_parts(const std::string& text, std::span<const Ids>... parts) {
    std::size_t hash = std::hash<std::string>()(text);
    [[maybe_unused]] const auto mix = [&](const auto& ids) {
        for (const auto id : ids) hash = (hash ^ id.value) * 0x9E3779B97F4A7C15U + (hash >> 29U);
    };
    (mix(parts), ...);
    return hash;
}

/// Adds == and hash. Equal objects have equal hashes.
template <class T, class Equal, class Hash>
void add_equality(nanobind::class_<T>& type, const Equal& equal, const Hash& hash) {
    namespace nb = nanobind;
    type.def(
            "__eq__",
            [equal](const T& a, nb::handle b) {
                return nb::isinstance<T>(b) && nb::inst_ready(b) && equal(a, nb::cast<const T&>(b));
            },
            nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", hash);
}

/// Adds pickling. parts(self, value, add) must call add(...) with the arguments from which restore() in
/// `topoloom.support.pickled` rebuilds the value.
template <class T, class Parts>
void add_pickling(nanobind::class_<T>& type, const char* kind, const Parts& parts) {
    namespace nb = nanobind;
    type.def(
        "__reduce__",
        [kind, parts](const T& value) {
            return parts(nb::find(value), value, [&](auto&&... each) {
                return call_python("topoloom.support.pickled", "reduced", kind, each...);
            });
        },
        nb::sig("def __reduce__(self) -> tuple[object, ...]"));
}

}  // namespace topoloom::python
