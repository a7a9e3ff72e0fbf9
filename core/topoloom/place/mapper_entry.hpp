// SPDX-License-Identifier: BSD-3-Clause
// Creates registry entries from mapper functions. The parameters of a function determine whether it is a
// constructor or an improver, and its options.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "topoloom/place/mapper.hpp"

namespace topoloom {

/// The type of a mapper's options: the last parameter of its function, or NoOptions.
template <class... Last>
struct OptionsOrNone {
    using Options = NoOptions;
};
template <class Last>
struct OptionsOrNone<Last> {
    using Options = std::remove_cvref_t<Last>;
};

template <class Function>
struct MapperFunction;
template <class... Last>
struct MapperFunction<Placement (*)(const Problem&, Meter&, Last...)> : OptionsOrNone<Last...> {
    static constexpr bool is_constructor = true;
};
template <class... Last>
struct MapperFunction<Placement (*)(const Problem&, Placement, Meter&, Last...)> : OptionsOrNone<Last...> {
    static constexpr bool is_constructor = false;
};

/// The registry entry of a mapper function: Placement run(const Problem&, Meter&, const Options&) is a
/// constructor, Placement run(const Problem&, Placement, Meter&, const Options&) an improver. The parameter
/// `options` may be missing.
template <auto run>
[[nodiscard]] MapperEntry mapper_entry(const MapperInfo& info) {
    using Function = MapperFunction<decltype(run)>;
    using Options = typename Function::Options;
    MapperEntry entry{info, nullptr, nullptr, list_options<Options>};
    if constexpr (Function::is_constructor) {
        entry.make_constructor = [](std::string_view name, const OptionValues& values) -> Constructor {
            return [options = read_options<Options>(name, values)](const Problem& problem, Meter& meter) {
                if constexpr (std::is_same_v<Options, NoOptions>)
                    return run(problem, meter);
                else
                    return run(problem, meter, options);
            };
        };
    } else {
        entry.make_improver = [](std::string_view name, const OptionValues& values) -> Improver {
            return [options = read_options<Options>(name, values)](const Problem& problem, Placement start,
                                                                   Meter& meter) {
                if constexpr (std::is_same_v<Options, NoOptions>)
                    return run(problem, std::move(start), meter);
                else
                    return run(problem, std::move(start), meter, options);
            };
        };
    }
    return entry;
}

}  // namespace topoloom
