// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/readers/dense_matrix.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "topoloom/pattern/readers/text_scanner.hpp"

namespace topoloom {

namespace {

/// Reserve memory for a full matrix, but not for more numbers than the text can contain (two characters
/// each). Reserved pages use no memory until they are written.
void reserve(CommRows& rows, std::size_t order, std::size_t remaining) {
    const std::size_t most = order + std::min((order - 1) * order, remaining / 2 + 1);
    rows.first.reserve(order + 1);
    rows.peers.reserve(most);
    rows.bytes.reserve(most);
}

}  // namespace

CommGraph read_dense_matrix(std::string_view text, ValueScale* scale) {
    TextScanner scan(text);
    CommRows rows;
    std::size_t order = 0;
    for (scan.skip_empty_lines(); !scan.at_end(); scan.skip_empty_lines()) {
        const std::size_t row = rows.first.size() - 1;
        Bytes to_itself;
        std::size_t column = 0;
        for (; !scan.at_line_end(); ++column) {
            const Bytes amount = read_value(scan, "a value", scale);
            if (column == row) to_itself = amount;
            if (amount.value == 0 || column == row) continue;
            rows.peers.push_back(Rank{column});
            rows.bytes.push_back(amount);
        }
        if (row == 0) order = column;
        if (row >= order)
            scan.fail_at_previous("there are more rows than the ", order,
                                  " columns; the matrix must be square");
        if (column != order)
            scan.fail_at_previous("row ", row + 1, " has ", column, " numbers, but the first has ", order);
        scan.end_line();
        if (row == 0) reserve(rows, order, scan.remaining());
        rows.first.push_back(rows.peers.size());
        rows.self_bytes.push_back(to_itself);
        rows.self_messages.push_back(to_itself.value > 0 ? 1 : 0);
    }
    const std::size_t row_count = rows.first.size() - 1;
    if (row_count == 0) fail("the text has no numbers; expected a square matrix, one row per line");
    if (row_count != order)
        scan.fail_expected("row " + std::to_string(row_count + 1) + " of " + std::to_string(order));
    return CommGraph::from_csr(std::move(rows));
}

}  // namespace topoloom
