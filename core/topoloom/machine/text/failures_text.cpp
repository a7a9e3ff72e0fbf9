// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/text/failures_text.hpp"

#include <string_view>

namespace topoloom {

namespace {

void read_failure(const TextPiece& item, Failures& failures) {
    const std::string_view text = item.text();
    if (const bool one_way = text.find('>') != std::string_view::npos;
        one_way || text.find('-') != std::string_view::npos) {
        const auto [from, to] = item.cut(one_way ? '>' : '-');
        const LinkEnds there{from.number(), to->number()};
        failures.links.push_back(there);
        if (!one_way) failures.links.push_back({there.to, there.from});
    } else if (text.starts_with('v')) {
        failures.vertices.push_back(item.sub(text.substr(1)).number());
    } else {
        failures.nodes.push_back(item.number());
    }
}

}  // namespace

Failures read_failures(const Section& section) {
    Failures failures;
    if (!section.options.empty())
        section.options.front().first.reject("expected what is down: 17 (a node), v40, 0-1 or 0>1");
    read_failure(section.body, failures);
    for (const TextPiece& item : section.items) read_failure(item, failures);
    return failures;
}

constinit const SectionForm down_form{
    .name = "+down",
    .summary = "behind any of these: nodes, vertices (v40) and links (0-1, 5>6) that failed",
    .example = "torus:8x8x8+down:17,v40,0-1",
    .body = "",
    .separator = ""};

}  // namespace topoloom
