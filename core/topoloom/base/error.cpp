// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/base/error.hpp"

#include <algorithm>
#include <numeric>

namespace topoloom {

namespace {

/// Levenshtein distance of two words. Stores a single row of the table.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row.back();
}

}  // namespace

std::string unknown_name_message(std::string_view kind, std::string_view given,
                                 const std::vector<std::string>& known) {
    std::ostringstream text;
    text << "no " << kind << " '" << given << "'";
    const auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
        return edit_distance(given, a) < edit_distance(given, b);
    });
    if (nearest != known.end() && edit_distance(given, *nearest) <= 1 + given.size() / 3) {
        text << " (did you mean '" << *nearest << "'?)";
    }
    text << (known.empty() ? "" : "; there are: ");
    for (std::size_t i = 0; i < known.size(); ++i) text << (i == 0 ? "" : ", ") << known[i];
    return text.str();
}

}  // namespace topoloom
