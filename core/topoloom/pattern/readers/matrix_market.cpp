// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/readers/matrix_market.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "topoloom/pattern/readers/edge_list.hpp"
#include "topoloom/pattern/readers/text_scanner.hpp"

namespace topoloom {

namespace {

struct MarketHeader {
    bool coordinate = true;
    bool pattern = false;
    bool symmetric = false;
};

std::string lower_case(std::string_view word) {
    std::string text(word);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

void read_field(TextScanner& scan, MarketHeader& header) {
    const std::string field = lower_case(scan.read_word("the field (integer, real or pattern)"));
    header.pattern = field == "pattern";
    if (field == "complex")
        scan.fail_at_previous("the entries are complex; bytes must be integer, real or pattern");
    if (!header.pattern && field != "integer" && field != "real" && field != "double") {
        scan.fail_at_previous("unknown field '", TextScanner::quoted(field),
                              "'; there are: integer, real, pattern");
    }
    if (header.pattern && !header.coordinate)
        scan.fail_at_previous("a pattern must be in coordinate format, not array");
}

void read_symmetry(TextScanner& scan, MarketHeader& header) {
    const std::string symmetry = lower_case(scan.read_word("the symmetry (general or symmetric)"));
    header.symmetric = symmetry == "symmetric";
    if (symmetry == "skew-symmetric" || symmetry == "hermitian") {
        scan.fail_at_previous("the matrix is ", symmetry,
                              ", so it has entries that are not bytes; store it as general or symmetric");
    }
    if (!header.symmetric && symmetry != "general") {
        scan.fail_at_previous("unknown symmetry '", TextScanner::quoted(symmetry),
                              "'; there are: general, symmetric");
    }
}

MarketHeader read_market_header(TextScanner& scan) {
    MarketHeader header;
    const std::string_view banner = scan.read_word("%%MatrixMarket");
    if (lower_case(banner) != "%%matrixmarket") {
        scan.fail_at_previous("expected %%MatrixMarket, found '", TextScanner::quoted(banner), "'");
    }
    const std::string_view object = scan.read_word("matrix");
    if (lower_case(object) != "matrix") {
        scan.fail_at_previous("this is a Matrix Market ", TextScanner::quoted(object),
                              "; only a matrix can be read");
    }
    const std::string format = lower_case(scan.read_word("the format (coordinate or array)"));
    header.coordinate = format == "coordinate";
    if (!header.coordinate && format != "array") {
        scan.fail_at_previous("unknown format '", TextScanner::quoted(format),
                              "'; there are: coordinate, array");
    }
    read_field(scan, header);
    read_symmetry(scan, header);
    scan.end_line();
    scan.skip_empty_lines('%');
    return header;
}

std::size_t read_order(TextScanner& scan) {
    const std::int64_t rows = scan.read_count("the number of rows");
    const std::int64_t columns = scan.read_count("the number of columns");
    if (rows != columns) {
        scan.fail_at_previous("the matrix has ", rows, " rows and ", columns,
                              " columns; a communication matrix is square");
    }
    if (rows == 0) scan.fail_at_previous("the matrix is empty");
    if (const std::int64_t most = max_ranks_read(scan.size()); rows > most)
        scan.fail_at_previous("the matrix has ", rows, " rows; a file of this size can have at most ", most);
    return static_cast<std::size_t>(rows);
}

void add_entry(EdgeList& edges, const MarketHeader& header, Rank row, Rank column, Bytes bytes) {
    if (bytes.value == 0) return;
    edges.add(row, column, bytes);
    if (header.symmetric && row != column) edges.add(column, row, bytes);
}

Rank read_index(TextScanner& scan, std::size_t order, std::string_view what) {
    const auto index = static_cast<std::uint64_t>(scan.read_count(what));
    if (index - 1 >= order) scan.fail_at_previous(what, " is ", index, ", but the matrix has 1 to ", order);
    return Rank{index - 1};
}

Bytes read_entry(TextScanner& scan, const MarketHeader& header, ValueScale* scale) {
    if (!header.pattern) return read_value(scan, "a value", scale);
    return scale == nullptr ? Bytes{1} : scale_value(1, scan, "a value", *scale);
}

EdgeList read_coordinates(TextScanner& scan, const MarketHeader& header, std::size_t order,
                          ValueScale* scale) {
    const auto count = static_cast<std::size_t>(scan.read_count("the number of entries"));
    scan.end_line();
    EdgeList edges;
    // An entry has at least four characters, so the length of the text limits the allocation.
    edges.reserve(std::min(count, scan.remaining() / 4 + 1) * (header.symmetric ? 2 : 1));
    for (std::size_t i = 0; i < count; ++i) {
        scan.skip_empty_lines();
        if (scan.at_end()) {
            scan.fail_expected("entry " + std::to_string(i + 1) + " of " + std::to_string(count));
        }
        const Rank row = read_index(scan, order, "a row");
        const Rank column = read_index(scan, order, "a column");
        if (header.symmetric && column > row) {
            scan.fail_at_previous(
                "entry (", row.value + 1, ", ", column.value + 1,
                ") is above the diagonal, but a symmetric matrix stores the part below only");
        }
        add_entry(edges, header, row, column, read_entry(scan, header, scale));
        scan.end_line();
    }
    return edges;
}

/// Reads entries column by column; columns of a symmetric matrix begin at the diagonal.
EdgeList read_array(TextScanner& scan, const MarketHeader& header, std::size_t order, ValueScale* scale) {
    scan.end_line();
    EdgeList edges;
    for (const Rank column : ids<Rank>(order)) {
        for (std::size_t row = header.symmetric ? column.value : 0; row < order; ++row) {
            scan.skip_empty_lines();
            if (scan.at_end()) {
                scan.fail_expected("row " + std::to_string(row + 1) + " of column " +
                                   std::to_string(column.value + 1));
            }
            add_entry(edges, header, Rank{row}, column, read_entry(scan, header, scale));
            scan.end_line();
        }
    }
    return edges;
}

}  // namespace

CommGraph read_matrix_market(std::string_view text, ValueScale* scale) {
    TextScanner scan(text);
    const MarketHeader header = read_market_header(scan);
    const std::size_t order = read_order(scan);
    EdgeList edges = header.coordinate ? read_coordinates(scan, header, order, scale)
                                       : read_array(scan, header, order, scale);
    scan.skip_empty_lines();
    if (!scan.at_end()) scan.fail_expected("nothing more after the last entry");
    return make_graph(order, std::move(edges));
}

}  // namespace topoloom
