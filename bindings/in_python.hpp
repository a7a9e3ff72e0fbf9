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

}  // namespace topoloom::python
