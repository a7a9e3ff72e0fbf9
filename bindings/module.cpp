// SPDX-License-Identifier: BSD-3-Clause
// The module topoloom._core: exposes the core, file by file.
#include <nanobind/stl/string.h>

#include <string>

#include "bindings.hpp"
#include "one_line_errors.hpp"
#include "topoloom/base/error.hpp"

namespace nb = nanobind;

namespace {

/// Raises ImportError unless the Python package and the compiled core have the same version.
void check_version() {
    const nb::object version = nb::module_::import_("topoloom.support.version").attr("__version__");
    const auto package = nb::cast<std::string>(version);
    if (package == TOPOLOOM_VERSION) return;
    const std::string text = "topoloom's compiled core is of version " TOPOLOOM_VERSION
                             ", but its Python package is of " +
                             package + "; install both again: pip install --force-reinstall topoloom";
    throw nb::import_error(text.c_str());
}

}  // namespace

NB_MODULE(_core, m) {
    check_version();
    // Objects that Python still holds at exit, in caches for instance, are not the user's concern.
    nb::set_leak_warnings(false);
    m.doc() = "The compiled core of Topoloom. Import its names from `topoloom` and its subpackages.";
    const nb::exception<topoloom::Error> error(m, "Error", PyExc_ValueError);
    error.doc() = "Invalid input: what is wrong, where, and what to do.";
    nb::register_exception_translator(&topoloom::python::raise_error_in_one_line, error.ptr());
    topoloom::python::bind_pattern(m);
    topoloom::python::bind_machine(m);
    topoloom::python::bind_machine_text(m);
    topoloom::python::bind_metric(m);
    topoloom::python::bind_switch_loads(m);
    topoloom::python::bind_network_model(m);
    topoloom::python::bind_process_grid(m);
    topoloom::python::bind_schedule(m);
    topoloom::python::bind_network_programs(m);
    topoloom::python::bind_objectives(m);
    topoloom::python::bind_balance(m);
    topoloom::python::bind_bound(m);
    topoloom::python::bind_place(m);
    topoloom::python::bind_evaluator(m);
    topoloom::python::bind_experts(m);
    topoloom::python::bind_c_mapper(m);
    topoloom::python::bind_axes(m);
    topoloom::python::bind_fat_trees(m);
    topoloom::python::bind_qap(m);
    topoloom::python::bind_rank_program(m);
    topoloom::python::bind_ring_bus(m);
    topoloom::python::bind_wiring(m);
    topoloom::python::bind_message_combining(m);
    topoloom::python::bind_tree_and_grid_orders(m);
    topoloom::python::bind_strategy(m);
    topoloom::python::shorten_argument_errors(m);
}
