// SPDX-License-Identifier: BSD-3-Clause
// Lets Python follow and interrupt searches.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>

#include "topoloom/base/budget.hpp"
#include "topoloom/base/error.hpp"

namespace topoloom::python {

/// Called with the work done so far. The search ends if the result is false, unless it is None.
using Progress = std::function<nanobind::object(std::uint64_t)>;

/// Handles signals and progress callbacks during a search. An exception such as KeyboardInterrupt ends the
/// search.
class SearchMonitor {
   public:
    explicit SearchMonitor(const std::optional<Progress>& progress) : progress_(progress) {}

    bool operator()(std::uint64_t work) {
        const nanobind::gil_scoped_acquire held;
        if (PyErr_CheckSignals() != 0) {
            raised_ = true;
            return false;
        }
        if (!progress_) return true;
        const nanobind::object result = (*progress_)(work);
        if (result.is_none()) return true;
        const int truth = PyObject_IsTrue(result.ptr());
        if (truth < 0) raised_ = true;
        return truth > 0;
    }
    /// Calls search() without the GIL and returns its result; throws the exception that ended the search, if
    /// any.
    template <class Search>
    auto run(const Search& search) {
        auto found = [&] {
            const nanobind::gil_scoped_release released;
            return search();
        }();
        if (raised_) throw nanobind::python_error();
        return found;
    }

   private:
    const std::optional<Progress>& progress_;
    bool raised_ = false;
};

/// Handles signals in a thread that does not hold the GIL; throws exceptions such as KeyboardInterrupt.
inline void check_signals() {
    const nanobind::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

/// Returns the argument, where 0 means one thread per core. Throws Error if it is out of range.
inline int check_threads(int threads) {
    constexpr int most = 4096;
    if (threads < 0 || threads > most)
        fail("threads is ", threads, "; it must be 0, which is one per core, to ", most);
    return threads;
}

/// Makes a budget that calls `monitor`, which must outlive it. Throws Error for negative seconds.
inline Budget make_budget(std::optional<double> seconds, std::optional<std::uint64_t> work,
                          SearchMonitor& monitor) {
    Budget budget;
    if (seconds && !(*seconds >= 0)) fail("seconds is ", *seconds, "; it must be 0 or more");
    if (seconds) budget.seconds = *seconds;
    if (work) budget.work = *work;
    budget.keep_going = std::ref(monitor);
    return budget;
}

}  // namespace topoloom::python
