// SPDX-License-Identifier: BSD-3-Clause
// Exposes the solver for quadratic assignment problems to Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/qap/qap_solve.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Matrix = ArrayArgument<std::int64_t, 2>;

std::vector<std::int64_t> copy_matrix_entries(const Matrix& m, const char* name) {
    const std::span<const std::int64_t> all = m.values(name);
    return {all.begin(), all.end()};
}

std::tuple<qap::Permutation, std::int64_t, std::uint64_t> solve_assignment(
    const Matrix& a, const Matrix& b, std::uint64_t seed, std::optional<double> seconds,
    std::optional<std::uint64_t> work, int threads, std::optional<std::int64_t> target) {
    std::vector<std::int64_t> entries_a = copy_matrix_entries(a, "a");
    std::vector<std::int64_t> entries_b = copy_matrix_entries(b, "b");
    if (a.size(0) != a.size(1) || b.size(0) != b.size(1) || a.size(0) != b.size(0))
        fail("expected two square matrices of one order, not ", a.size(0), " x ", a.size(1), " and ",
             b.size(0), " x ", b.size(1));
    const qap::Qap problem(a.size(0), std::move(entries_a), std::move(entries_b));
    const std::optional<Progress> silent;
    SearchMonitor monitor(silent);
    if (!seconds && !work) work = std::uint64_t{1} << 30;
    const Budget budget = make_budget(seconds, work, monitor);
    qap::QapSolveOptions options{.seed = seed, .threads = check_threads(threads)};
    if (target) options.target = *target;
    Meter meter(budget);
    const qap::QapResult result = monitor.run([&] { return qap::solve_qap(problem, {}, meter, options); });
    return {result.assignment, result.value, meter.work_done()};
}

}  // namespace

void bind_qap(nb::module_& m) {
    m.def("solve_qap", &solve_assignment, "a"_a, "b"_a, nb::kw_only(), "seed"_a = 1, "seconds"_a = nb::none(),
          "work"_a = nb::none(), "threads"_a = 0, "target"_a = nb::none(),
          "Minimizes the sum of a[i, j] * b[p[i], p[j]]; returns (p, value, work done).\n\n"
          "Ends at the target value, or with the budget: about a second where none is given.");
}

}  // namespace topoloom::python
