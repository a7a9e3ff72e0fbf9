// SPDX-License-Identifier: BSD-3-Clause
// How a notebook shows an object: the package draws it, and is loaded only then.
#pragma once

#include <nanobind/nanobind.h>

namespace topoloom::python {

template <class T>
auto shown_by(const char* function) {
    return [function](nanobind::handle_t<T> self) {
        return nanobind::str(nanobind::module_::import_("topoloom.report.notebook").attr(function)(self));
    };
}

}  // namespace topoloom::python
