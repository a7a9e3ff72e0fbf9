// SPDX-License-Identifier: BSD-3-Clause
// How methods do what is written in Python: the package is loaded only then.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

namespace topoloom::python {

/// Calls a function of one of the package's modules.
template <class... Args>
nanobind::object in_python(const char* module, const char* function, Args&&... args) {
    return nanobind::module_::import_(module).attr(function)(std::forward<Args>(args)...);
}

/// How a notebook shows an object.
template <class T>
auto shown_by(const char* function) {
    return [function](nanobind::handle_t<T> self) {
        return nanobind::str(in_python("topoloom.report.notebook", function, self));
    };
}

}  // namespace topoloom::python
