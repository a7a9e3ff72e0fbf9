// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/notation/topology_notation.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "topoloom/machine/notation/text_piece.hpp"

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

constexpr std::array<std::string_view, 9> drawing_names{
    "links", "grid", "rings", "joined_axes", "cube", "circle", "groups", "leaf_spine_groups", "gpu_domains"};

bool has_key_per_link(OptionForm form) {
    return form == OptionForm::axis_quantities || form == OptionForm::direction_quantities ||
           form == OptionForm::class_quantities;
}

bool matches_key(const TopologyOption& option, const TextPiece& key) {
    const auto [name, part] = key.cut('.');
    if (name.text() != option.name) return false;
    return part ? option.form == OptionForm::axis_shifts || has_key_per_link(option.form)
                : option.form != OptionForm::axis_shifts;
}

}  // namespace

std::string_view form_name(OptionForm form) { return form_names[static_cast<std::size_t>(form)]; }

std::string_view drawing_name(Drawing drawing) { return drawing_names[static_cast<std::size_t>(drawing)]; }

bool is_host_option(const TextPiece& key) {
    const std::string_view name = key.text();
    return name == "cards" || name == "hosts" || name == "bandwidth.host" || name == "latency.host";
}

void check_section(const Section& section, const SectionForm& form) {
    if (!form.lists_links) reject_items(section);
    for (const auto& [key, value] : section.options) {
        if (std::ranges::any_of(form.options,
                                [&key](const TopologyOption& option) { return matches_key(option, key); }))
            continue;
        std::vector<std::string> known;
        for (const TopologyOption& option : form.options) {
            known.emplace_back(option.name);
            if (option.form == OptionForm::axis_shifts) known.back() += ".AXIS";
        }
        reject_option(section, key, known);
    }
}

}  // namespace topoloom
