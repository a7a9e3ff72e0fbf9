// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <doctest.h>

#include "topoloom/base/rng.hpp"
#include "topoloom/pattern/readers/text_scanner.hpp"

using namespace topoloom;

TEST_CASE("integers are parsed exactly in every notation") {
    struct IntegerText {
        const char* text;
        std::int64_t value;
    };
    for (const IntegerText& row :
         {IntegerText{"0", 0}, IntegerText{"0.000", 0}, IntegerText{"0e5", 0}, IntegerText{"0.0e-3", 0},
          IntegerText{"-0", 0}, IntegerText{"5.", 5}, IntegerText{".5e1", 5}, IntegerText{"1.5e1", 15},
          IntegerText{"1500e-2", 15}, IntegerText{"+1.5E+01", 15},
          IntegerText{"1e17", 100'000'000'000'000'000}, IntegerText{"9e18", 9'000'000'000'000'000'000},
          IntegerText{"999999999999999999", 999'999'999'999'999'999},
          IntegerText{"9223372036854775807", INT64_MAX},
          IntegerText{"1.23456789012345678e17", 123'456'789'012'345'678},
          IntegerText{"00000000000000000000007", 7}}) {
        CAPTURE(std::string(row.text));
        CHECK(TextScanner(row.text).read_bytes("a value").value == row.value);
    }
}

TEST_CASE("a text that is not an integer number of bytes is refused") {
    for (const char* text :
         {"",    ".",  "e5",  "1e",  "1e+",  "1e+-5", "1.2.3",    "15e-1", "1e-400", "1e400", "1e19", "--5",
          "+-5", "5-", "0x5", "nan", "-nan", "inf",   "infinity", "1_000", "1,5",    "-1",    "-1.0"}) {
        CAPTURE(std::string(text));
        CHECK_THROWS_AS((void)TextScanner(text).read_bytes("a value"), Error);
    }
}

TEST_CASE("random integers written in scientific notation are parsed back exactly") {
    Rng rng(1);
    for (int i = 0; i < 2000; ++i) {
        const std::int64_t value = rng.next() >> rng.below(32);
        const std::string digits = std::to_string(value);
        std::string text = digits.substr(0, 1) + "." + digits.substr(1) + std::string(rng.below(4), '0') +
                           "e+" + (digits.size() < 11 ? "0" : "") + std::to_string(digits.size() - 1);
        CAPTURE(text);
        CHECK(TextScanner(text).read_bytes("a value").value == value);
    }
}

TEST_CASE("a line ends with LF, CR LF, or the end of the text") {
    TextScanner scan("1 2\r\n\t3 \n\n# no\n 4");
    CHECK(scan.read_count("a number") == 1);
    CHECK_FALSE(scan.at_line_end());
    CHECK(scan.read_count("a number") == 2);
    scan.end_line();
    CHECK(scan.read_count("a number") == 3);
    scan.end_line();
    scan.skip_empty_lines('#');
    CHECK(scan.read_count("a number") == 4);
    CHECK(scan.at_line_end());
    CHECK(scan.at_end());
    CHECK_THROWS_WITH_AS((void)scan.read_count("a number"),
                         "line 5: expected a number, but the text ends here", Error);
}
