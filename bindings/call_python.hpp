// SPDX-License-Identifier: BSD-3-Clause
// Calls functions of the Python package; imports their modules on demand.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

namespace topoloom::python {

/// Imports a module of the package if needed, and calls one of its functions.
template <class... Args>
nanobind::object call_python(const char* module, const char* function, Args&&... args) {
    return nanobind::module_::import_(module).attr(function)(std::forward<Args>(args)...);
}

/// Makes a _repr_html_ method that calls a function of the package.
template <class T>
auto html_repr(const char* function) {
    return [function](nanobind::handle_t<T> self) {
        return nanobind::str(call_python("topoloom.report.notebook", function, self));
    };
}

}  // namespace topoloom::python
