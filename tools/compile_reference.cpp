// SPDX-License-Identifier: BSD-3-Clause
// Reference for compile times: a file that uses the standard library as the core does. The budget is in
// multiples of its compile time, so a change of this file changes the unit.
#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace reference {

template <std::size_t columns>
struct Row {
    std::array<double, columns> values{};
    [[nodiscard]] double sum() const { return std::accumulate(values.begin(), values.end(), 0.0); }
    auto operator<=>(const Row&) const = default;
};

using AnyRows = std::variant<std::vector<Row<1>>, std::vector<Row<2>>>;

template <std::size_t columns>
std::optional<double> median(std::vector<Row<columns>> rows) {
    if (rows.empty()) return std::nullopt;
    std::ranges::sort(rows);
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
    std::ranges::nth_element(rows, middle, std::greater{}, &Row<columns>::sum);
    return middle->sum();
}

std::string describe(const std::map<std::string, std::shared_ptr<AnyRows>>& tables, std::span<const double> limits) {
    std::ostringstream text;
    for (const auto& [name, table] : tables) {
        const auto found = std::visit([](const auto& rows) { return median(rows); }, *table);
        const auto over = std::ranges::count_if(limits, [&](double limit) { return found.value_or(0) > limit; });
        text << name << ": " << found.value_or(0) << ", above " << over << " limits\n";
    }
    return text.str();
}

}  // namespace reference
