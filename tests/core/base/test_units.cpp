// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <type_traits>

#include <doctest.h>

#include "topoloom/base/error.hpp"
#include "topoloom/base/id.hpp"
#include "topoloom/base/unit.hpp"

using namespace topoloom;

TEST_CASE("bandwidths are read in bytes and bits, with decimal and binary prefixes") {
    struct BandwidthText {
        const char* text;
        double bytes_per_second;
    };
    for (const BandwidthText& row :
         {BandwidthText{"9.4 GB/s", 9.4e9}, BandwidthText{"25GBps", 25e9},
          BandwidthText{"100 Gbit/s", 12.5e9}, BandwidthText{"8 b/s", 1}, BandwidthText{"8 Mbps", 1e6},
          BandwidthText{"1 KiB/s", 1024}, BandwidthText{"2 GiB/s", 2147483648.0},
          BandwidthText{"3 kB/s", 3000}, BandwidthText{"3 KB/s", 3000}, BandwidthText{"1TB/s", 1e12},
          BandwidthText{"1 PB/s", 1e15}, BandwidthText{"5", 5}, BandwidthText{"5 B/s", 5},
          BandwidthText{"1e9", 1e9}}) {
        CAPTURE(std::string(row.text));
        CHECK(parse_bandwidth(row.text).value == doctest::Approx(row.bytes_per_second));
    }
}

TEST_CASE("invalid bandwidths are refused") {
    for (const char* text : {"", "GB/s", "0", "-1 GB/s", "nan", "inf B/s", "5 s", "5 GB", "5 XB/s", "1 2",
                             "5 GB/s/s", "1e400", "9.4 GiBB/s", "k"}) {
        CAPTURE(std::string(text));
        CHECK_THROWS_AS((void)parse_bandwidth(text), Error);
    }
}

TEST_CASE("times are read in s, ms, us and ns") {
    CHECK(parse_time("1.3 us").value == doctest::Approx(1.3e-6));
    CHECK(parse_time("90ns").value == doctest::Approx(90e-9));
    CHECK(parse_time("2 ms").value == doctest::Approx(2e-3));
    CHECK(parse_time("1 s").value == 1);
    CHECK(parse_time("0.5").value == 0.5);
    CHECK(parse_time("0").value == 0);
    for (const char* text : {"", "us", "-1 us", "nan", "inf", "5 GB/s", "5 minutes"}) {
        CAPTURE(std::string(text));
        CHECK_THROWS_AS((void)parse_time(text), Error);
    }
}

TEST_CASE("bytes over bytes per second are seconds") {
    CHECK((Bytes{4096} / BytesPerSecond{1024}).value == 4);
    CHECK(Bytes{3} * 4 + Bytes{1} == Bytes{13});
    CHECK(Bytes{3} < Bytes{4});
}

TEST_CASE("ids and units of different kinds do not mix") {
    static_assert(!std::is_convertible_v<Rank, Slot>);
    static_assert(!std::is_constructible_v<Slot, Rank>);
    static_assert(!std::is_convertible_v<int, Rank>);
    static_assert(!std::is_convertible_v<Bytes, Seconds>);
    static_assert(sizeof(Rank) == 4);
    std::uint32_t next = 0;
    for (const Rank rank : ids<Rank>(4)) CHECK(rank.value == next++);
    CHECK(next == 4);
}
