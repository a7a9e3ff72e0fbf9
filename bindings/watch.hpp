// SPDX-License-Identifier: BSD-3-Clause
// A search that Python can see and stop.
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

/// What it returns is taken as true or false; None, as of a function that only prints, does not end a search.
using Progress = std::function<nanobind::object(std::uint64_t)>;

/// Lets Python handle signals during a search; a pending exception such as KeyboardInterrupt ends it.
class Watch {
   public:
    explicit Watch(const std::optional<Progress>& progress) : progress_(progress) {}

    bool operator()(std::uint64_t work) {
        const nanobind::gil_scoped_acquire held;
        if (PyErr_CheckSignals() != 0) {
            raised_ = true;
            return false;
        }
        if (!progress_) return true;
        const nanobind::object said = (*progress_)(work);
        if (said.is_none()) return true;
        const int truth = PyObject_IsTrue(said.ptr());
        if (truth < 0) raised_ = true;
        return truth > 0;
    }
    /// Calls search() without Python's lock; throws the exception that ended it, if one did.
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

/// Lets Python handle signals, from a thread without its lock; throws what comes of it, such as KeyboardInterrupt.
inline void check_signals() {
    const nanobind::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

/// Throws Error unless this is a number of threads; 0: one per core.
inline int checked_threads(int threads) {
    constexpr int most = 4096;
    if (threads < 0 || threads > most)
        fail("threads is ", threads, "; it must be 0, which is one per core, to ", most);
    return threads;
}

/// Refers to `watch`, which must live longer. Throws Error for seconds that are none.
inline Budget make_budget(std::optional<double> seconds, std::optional<std::uint64_t> work, Watch& watch) {
    Budget budget;
    if (seconds && !(*seconds >= 0)) fail("seconds is ", *seconds, "; it must be 0 or more");
    if (seconds) budget.seconds = *seconds;
    if (work) budget.work = *work;
    budget.keep_going = std::ref(watch);
    return budget;
}

}  // namespace topoloom::python
