// SPDX-License-Identifier: BSD-3-Clause
// The solver of quadratic assignment problems for Python.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "rooms.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/qap/qap_solve.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Matrix = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<std::int64_t> entries(const Matrix& m) { return {m.data(), m.data() + m.size()}; }

std::tuple<qap::Permutation, std::int64_t, std::uint64_t> solve(
    const Matrix& a, const Matrix& b, std::uint64_t seed, std::optional<double> seconds,
    std::optional<std::uint64_t> work, int threads, std::optional<std::int64_t> target) {
    if (a.shape(0) != a.shape(1) || b.shape(0) != b.shape(1) || a.shape(0) != b.shape(0))
        fail("expected two square matrices of one order, not ", a.shape(0), " x ", a.shape(1), " and ",
             b.shape(0), " x ", b.shape(1));
    const qap::Qap qap(a.shape(0), entries(a), entries(b));
    Budget budget;
    if (seconds) budget.seconds = *seconds;
    if (work || !seconds) budget.work = work.value_or(std::uint64_t{1} << 30);
    bool raised = false;
    budget.keep_going = [&](std::uint64_t /*work*/) {
        const nb::gil_scoped_acquire held;
        raised = PyErr_CheckSignals() != 0;
        return !raised;
    };
    qap::QapSolveOptions options{.seed = seed, .threads = threads};
    if (target) options.target = *target;
    Meter meter(budget);
    const qap::QapResult result = [&] {
        const nb::gil_scoped_release released;
        return qap::solve_qap(qap, {}, meter, options);
    }();
    if (raised) throw nb::python_error();
    return {result.assignment, result.value, meter.done()};
}

}  // namespace

void bind_qap(nb::module_& m) {
    m.def("solve_qap", &solve, "a"_a, "b"_a, nb::kw_only(), "seed"_a = 1, "seconds"_a = nb::none(),
          "work"_a = nb::none(), "threads"_a = 0, "target"_a = nb::none(),
          "Minimizes the sum of a[i, j] * b[p[i], p[j]]; returns (p, value, work done).\n\n"
          "Ends at the target value, or with the budget: about a second where none is given.");
}

}  // namespace topoloom::python
