// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/dense_matrix.hpp"

#include <vector>

#include "topoloom/pattern/text_scanner.hpp"

namespace topoloom {

CommGraph read_dense_matrix(std::string_view text) {
    TextScanner scan(text);
    std::vector<std::uint64_t> first{0};
    std::vector<Rank> peers;
    std::vector<Bytes> bytes;
    std::size_t order = 0;
    for (scan.skip_empty_lines(); !scan.at_end(); scan.skip_empty_lines()) {
        std::size_t column = 0;
        for (; !scan.at_line_end(); ++column) {
            const Bytes amount = scan.read_bytes("a value");
            if (amount.value == 0) continue;
            peers.push_back(Rank{column});
            bytes.push_back(amount);
        }
        const std::size_t row = first.size() - 1;
        if (row == 0) order = column;
        if (row >= order)
            scan.refuse("there are more rows than the ", order, " columns; the matrix must be square");
        if (column != order)
            scan.refuse("row ", row + 1, " has ", column, " numbers, but the first has ", order);
        scan.end_line();
        first.push_back(peers.size());
    }
    const std::size_t rows = first.size() - 1;
    if (rows == 0) fail("the text has no numbers; expected a square matrix, one row a line");
    if (rows != order) scan.unexpected("row " + std::to_string(rows + 1) + " of " + std::to_string(order));
    // A column can be a peer only now that the rows are known to be as many.
    return CommGraph::from_csr(first, peers, bytes);
}

}  // namespace topoloom
