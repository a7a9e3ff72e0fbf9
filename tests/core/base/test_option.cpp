// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/base/option.hpp"

using namespace topoloom;

namespace {

struct CookingOptions {
    std::uint32_t minutes = 10;
    std::uint32_t way = 1;
    Extents tray;
    void visit(auto& field) {
        field("minutes", minutes, Range{1, 60}, "how long");
        field("way", way, Choices{"boil", "roast", "steam"}, "how");
        field("tray", tray, "rows and columns");
    }
};

struct ServingOptions {
    std::string guest = "anyone";
    void visit(auto& field) { field("guest", guest, "for whom"); }
};

}  // namespace

TEST_CASE("an option can be any text") {
    CHECK(read_options<ServingOptions>("serve", {}).guest == "anyone");
    CHECK(read_options<ServingOptions>("serve", {{"guest", "the queen of 7 seas"}}).guest ==
          "the queen of 7 seas");
    CHECK(read_options<ServingOptions>("serve", {{"guest", ""}}).guest.empty());
}

TEST_CASE("missing options keep their defaults") {
    const auto cooking = read_options<CookingOptions>("cook", {});
    CHECK(cooking.minutes == 10);
    CHECK(cooking.way == 1);
    CHECK(cooking.tray.empty());
}

TEST_CASE("an option with choices is set to the index of the given word") {
    CHECK(read_options<CookingOptions>("cook", {{"way", "boil"}}).way == 0);
    CHECK(read_options<CookingOptions>("cook", {{"way", "steam"}, {"minutes", "60"}}).way == 2);
    CHECK(read_options<CookingOptions>("cook", {{"way", "steam"}, {"minutes", "60"}}).minutes == 60);
}

TEST_CASE("the error for an unknown word names the nearest choice and lists all choices") {
    CHECK_THROWS_WITH_AS(
        (void)read_options<CookingOptions>("cook", {{"way", "raost"}}),
        "no value of option way of cook 'raost' (did you mean 'roast'?); there are: boil, roast, steam",
        Error);
    CHECK_THROWS_WITH_AS((void)read_options<CookingOptions>("cook", {{"way", "2"}}),
                         "no value of option way of cook '2'; there are: boil, roast, steam", Error);
    CHECK_THROWS_WITH_AS((void)read_options<CookingOptions>("cook", {{"way", ""}}),
                         "no value of option way of cook ''; there are: boil, roast, steam", Error);
}

TEST_CASE("numbers out of range, text for a number, and unknown options are refused") {
    for (const char* text : {"0", "61", "-1", "1.5", "", "ten", "7 ", "99999999999"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS((void)read_options<CookingOptions>("cook", {{"minutes", text}}),
                             doctest::Contains("it must be an integer from 1 to 60"), Error);
    }
    CHECK_THROWS_WITH_AS((void)read_options<CookingOptions>("cook", {{"minute", "3"}}),
                         doctest::Contains("no option of cook 'minute' (did you mean 'minutes'?)"), Error);
    CHECK_THROWS_WITH_AS((void)read_options<NoOptions>("cook", {{"way", "boil"}}),
                         "cook has no options, but 'way' is given", Error);
}

TEST_CASE("extents of a grid are integers separated by x") {
    CHECK(read_options<CookingOptions>("bake", {{"tray", "8"}}).tray == Extents{8});
    CHECK(read_options<CookingOptions>("bake", {{"tray", "8x1x16"}}).tray == Extents{8, 1, 16});
    for (const char* text : {"", "x", "8x", "x8", "8x0", "8,8", "8xa", "8x-1", "8x4294967296"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS((void)read_options<CookingOptions>("bake", {{"tray", text}}),
                             doctest::Contains("it must be integers from 1, as in 8x8x16"), Error);
    }
}

TEST_CASE("options list their defaults, ranges and choices") {
    const std::vector<OptionInfo> list = list_options<CookingOptions>();
    REQUIRE(list.size() == 3);
    CHECK(list[0].name == "minutes");
    CHECK(list[0].default_value == "10");
    CHECK(list[0].range.high == 60);
    CHECK(list[0].choices.empty());
    CHECK(list[1].name == "way");
    CHECK(list[1].default_value == "roast");
    CHECK(list[1].choices == Choices{"boil", "roast", "steam"});
    CHECK(list[1].help == "how");
    CHECK(list[2].name == "tray");
    CHECK(list[2].default_value.empty());
}
