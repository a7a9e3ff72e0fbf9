// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <string>

#include "topoloom/base/error.hpp"
#include "topoloom/strategy/json_reader.hpp"

using namespace topoloom;

namespace {

std::string read_text_member(const char* json) { return read_json(json).text("it"); }

void check_error(const std::string& json, const char* message) {
    CHECK_THROWS_WITH((void)read_json(json), message);
}

}  // namespace

TEST_CASE("values are parsed with the lines on which they begin") {
    const Json document = read_json("{\"a\": [1, -2.5e1,\n{}, true, false, null],\r\n \"b\" : \"c\"}\n");
    CHECK(document.at("a").list("a").size() == 6);
    CHECK(document.at("a").list("a")[1].whole("it", -100, 100) == -25);
    CHECK(document.at("a").list("a")[2].line() == 2);
    CHECK(document.at("b").line() == 3);
    CHECK(document.find("c") == nullptr);
}

TEST_CASE("escape sequences become characters") {
    CHECK(read_text_member(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
    CHECK(read_text_member(R"("\u0041\u00e9\u20AC\ud83d\ude00")") == "A\u00e9\u20ac\U0001F600");
    CHECK(read_text_member("\"\u20ac\"") == "\u20ac");
}

TEST_CASE("several values may follow each other") {
    CHECK(read_json_values("{} []\n1").size() == 3);
    check_error("{} []", "line 1: expected the end of the text at '[]'");
}

TEST_CASE("the error for invalid JSON names the line") {
    check_error("", "line 1: expected a value, but the text ends");
    check_error("[1,]", "line 1: expected a value at ']'");
    check_error("[1\n2]", "line 2: expected ',' or ']' at '2]'");
    check_error("{1: 2}", "line 1: expected a key in quotes at '1: 2}'");
    check_error("{\"a\" 2}", "line 1: expected ':' at '2}'");
    check_error("{\"a\": 1, \"a\": 2}", "line 1: the key \"a\" is given twice");
    check_error("{\"ab\n", "line 1: expected '\"', but the line ends");
    for (const char* number : {"01", "1.", ".5", "+1", "1e", "NaN", "Infinity", "0x10", "1e999", "-"}) {
        CAPTURE(number);
        CHECK_THROWS_AS((void)read_json(number), Error);
    }
    for (const char* text : {"\"", "\"\\x\"", "\"\\u12\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\n\"", "'a'"}) {
        CAPTURE(text);
        CHECK_THROWS_AS((void)read_json(text), Error);
    }
    check_error(std::string(100, '['), "line 1: lists and objects are nested more than 64 deep");
}

TEST_CASE("a truncated text is refused at any position") {
    const std::string whole = R"({"a": [1, -2.5e1, {"b": null}, "\u00e9"], "c": true})";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK_THROWS_AS((void)read_json(whole.substr(0, length)), Error);
    }
}

TEST_CASE("errors name values of the wrong type") {
    const Json one = read_json("1.5");
    CHECK_THROWS_WITH((void)one.text("a name"), "line 1: a name must be a string");
    CHECK_THROWS_WITH((void)one.list("names"), "line 1: names must be a list");
    CHECK_THROWS_WITH((void)one.whole("ranks", 1, 9), "line 1: ranks must be an integer from 1 to 9");
    CHECK_THROWS_WITH((void)one.at("a"), "line 1: expected an object, {...}, with the key \"a\"");
}
