// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/notation/text_piece.hpp"

#include <algorithm>
#include <array>

namespace topoloom {

namespace {

template <class Quantity, class Read>
std::vector<Quantity> read_levels(const TextPiece& value, std::size_t count, const Read& read) {
    const auto parts = value.split(':');
    if (parts.size() == 1) return std::vector<Quantity>(count, read_quantity(parts.front(), read));
    std::vector<Quantity> values;
    for (const TextPiece& part : parts) values.push_back(read_quantity(part, read));
    return values;
}

/// Splits the text at `mark`, such as +node:, and drops the plus sign. A plain plus sign is no separator,
/// because graph:4+2 contains one.
std::pair<TextPiece, std::optional<TextPiece>> cut_at(const TextPiece& text, std::string_view mark) {
    const std::size_t at = text.text().find(mark);
    if (at == std::string_view::npos) return {text, std::nullopt};
    return {text.sub(text.text().substr(0, at)), text.sub(text.text().substr(at + 1))};
}

}  // namespace

std::string abbreviate(std::string_view text) {
    std::string line(text.substr(0, text.size() <= 80 ? text.size() : 77));
    for (char& c : line) {
        if (c < ' ' || c > '~') c = '?';
    }
    return text.size() <= 80 ? line : line + "...";
}

Section read_section(const TextPiece& text) {
    const auto parts = text.split(',');
    if (parts.empty()) text.reject("expected a topology such as torus:8x8x8");
    const auto [name, body] = parts.front().cut(':');
    Section section{
        name,
        body ? *body : parts.front().sub(parts.front().text().substr(parts.front().text().size())),
        {},
        {}};
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto [key, value] = parts[i].cut('=');
        if (value) {
            const auto same = [&, name = key.text()](const auto& option) {
                return option.first.text() == name;
            };
            const bool repeats = key.text() == "route" || key.text() == "table";
            if (!repeats && std::any_of(section.options.begin(), section.options.end(), same)) {
                key.reject("'", abbreviate(key.text()), "' is given twice;");
            }
            section.options.emplace_back(key, *value);
        } else {
            section.items.push_back(parts[i]);
        }
    }
    return section;
}

void reject_option(const Section& section, const TextPiece& key, const std::vector<std::string>& known) {
    key.reject(unknown_name_message(std::string("option of ") + std::string(section.name.text()),
                                    abbreviate(key.text()), known),
               ";");
}

void reject_items(const Section& section) {
    if (!section.items.empty()) section.items.front().reject("expected an option of the form key=value");
}

MachineTextParts split_machine_text(const TextPiece& text) {
    const auto [before, node] = cut_at(text, "+node:");
    const auto [network, down] = cut_at(before, "+down:");
    if (node) {
        if (const auto late = cut_at(*node, "+down:").second)
            late->reject(
                "failures come before the node: a machine's text is a network, then +down:FAILED, then ",
                "+node:SLOTS, as in torus:4x4+down:3+node:2;");
    }
    return {network, down, node};
}

BytesPerSecond read_bandwidth(const TextPiece& value, BytesPerSecond standard) {
    constexpr std::array<std::pair<std::string_view, double>, 3> words{
        {{"half", 0.5}, {"double", 2}, {"quarter", 0.25}}};
    for (const auto& [word, factor] : words) {
        if (value.text() == word) return standard * factor;
    }
    return read_quantity(value, parse_bandwidth);
}

std::vector<BytesPerSecond> read_level_bandwidths(const TextPiece& value, std::size_t count) {
    return read_levels<BytesPerSecond>(value, count, parse_bandwidth);
}

std::vector<Seconds> read_level_latencies(const TextPiece& value, std::size_t count) {
    return read_levels<Seconds>(value, count, parse_time);
}

}  // namespace topoloom
