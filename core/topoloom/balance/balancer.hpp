// SPDX-License-Identifier: BSD-3-Clause
// The input of balancers, their descriptions, and the table from which they are selected by name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "topoloom/balance/plan.hpp"
#include "topoloom/base/option.hpp"
#include "topoloom/machine/machine.hpp"

namespace topoloom {

/// Equal tasks to distribute evenly, given as the number of tasks of every rank.
struct BalanceProblem {
    std::span<const std::int64_t> loads;
    /// Machine for balancers that prefer near partners; `slots` is empty if it is null.
    const Machine* machine = nullptr;
    std::span<const Slot> slots = {};
    /// If set, only moves from and to this rank are needed; a balancer may omit all others.
    std::optional<Rank> only = std::nullopt;
};

/// The description of a balancer.
struct BalancerInfo {
    std::string_view name;
    std::string_view summary;
    std::string_view source = {};
    bool needs_machine = false;
    // Whether ranks forward received tasks, so that plans may take several rounds.
    bool forwards_tasks = false;
};

using MakePlan = std::function<Plan(const BalanceProblem&)>;

/// One row of the table, constructed by balancer().
struct Balancer : BalancerInfo {
    MakePlan (*make)(std::string_view name, const OptionValues&) = nullptr;
    std::vector<OptionInfo> (*options)() = nullptr;
};

/// All balancers in display order.
[[nodiscard]] const std::vector<Balancer>& balancers();

/// Computes the plan of a balancer such as `alias` or `alias(remainder=exact)`. Throws Error for unknown
/// names and options, 0 ranks, negative loads, a sum of loads of 2^62 or more, and if the balancer needs a
/// machine but none is given.
[[nodiscard]] Plan balance(const BalanceProblem& problem, std::string_view method);

/// Whether plans of a balancer may take several rounds. Throws Error for unknown names and options.
[[nodiscard]] bool forwards_tasks(std::string_view method);

template <class Function>
struct BalancerFunction;
template <>
struct BalancerFunction<Plan (*)(const BalanceProblem&)> {
    using Options = NoOptions;
};
template <class Last>
struct BalancerFunction<Plan (*)(const BalanceProblem&, Last)> {
    using Options = std::remove_cvref_t<Last>;
};

/// Builds the table entry of a balancer that is implemented by a function Plan run(const BalanceProblem&,
/// const Options&); the options may be omitted.
template <auto run>
[[nodiscard]] Balancer balancer(const BalancerInfo& info) {
    using Options = typename BalancerFunction<decltype(run)>::Options;
    Balancer entry{info, nullptr, list_options<Options>};
    entry.make = [](std::string_view name, const OptionValues& values) -> MakePlan {
        return [options = read_options<Options>(name, values)](const BalanceProblem& problem) {
            if constexpr (std::is_same_v<Options, NoOptions>)
                return run(problem);
            else
                return run(problem, options);
        };
    };
    return entry;
}

}  // namespace topoloom
