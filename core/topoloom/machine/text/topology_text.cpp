// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/topology_text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 15> form_names{"count",
                                                      "number",
                                                      "counts",
                                                      "distances",
                                                      "word",
                                                      "axis_flags",
                                                      "axis_order",
                                                      "axis_shifts",
                                                      "route",
                                                      "table",
                                                      "quantity",
                                                      "level_quantities",
                                                      "axis_quantities",
                                                      "direction_quantities",
                                                      "class_quantities"};

bool may_name_links(OptionForm form) {
    return form == OptionForm::axis_quantities || form == OptionForm::direction_quantities ||
           form == OptionForm::class_quantities;
}

bool takes(const TopologyOption& option, const Piece& key) {
    const auto [name, part] = key.cut('.');
    if (name.text() != option.name) return false;
    return part ? option.form == OptionForm::axis_shifts || may_name_links(option.form)
                : option.form != OptionForm::axis_shifts;
}

}  // namespace

std::string_view form_name(OptionForm form) { return form_names[static_cast<std::size_t>(form)]; }

void check_options(const Section& section, const SectionForm& form) {
    for (const auto& [key, value] : section.options) {
        if (std::ranges::any_of(form.options,
                                [&key](const TopologyOption& option) { return takes(option, key); }))
            continue;
        std::vector<std::string> known;
        for (const TopologyOption& option : form.options) {
            known.emplace_back(option.name);
            if (option.form == OptionForm::axis_shifts) known.back() += ".AXIS";
        }
        unknown_option(section, key, known);
    }
}

}  // namespace topoloom
