// SPDX-License-Identifier: BSD-3-Clause
// Converts the options of an algorithm to a list of Python dicts.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "topoloom/base/option.hpp"

namespace topoloom::python {

inline nanobind::list option_list(const std::vector<OptionInfo>& options) {
    nanobind::list list;
    for (const OptionInfo& option : options) {
        nanobind::dict described;
        described["name"] = option.name.c_str();
        described["default"] = option.default_value.c_str();
        described["range"] = nanobind::make_tuple(option.range.low, option.range.high);
        nanobind::list choices;
        for (const std::string& choice : option.choices) choices.append(choice.c_str());
        described["choices"] = choices;
        described["help"] = option.help.c_str();
        list.append(described);
    }
    return list;
}

}  // namespace topoloom::python
