// SPDX-License-Identifier: BSD-3-Clause
// Slots of ranks and costs of messages are taken from files, and errors in files are refused.
#include <doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/machine.hpp"
#include "topoloom/strategy/cost_basis.hpp"
#include "topoloom/strategy/strategy.hpp"

using namespace topoloom;

namespace {

constexpr const char* ring = "torus:4,bandwidth=10GB/s";

Setting with_machine(std::string machine, std::vector<std::int64_t> seats = {}) {
    Setting setting;
    setting.ranks = 3;
    setting.machine = std::move(machine);
    setting.locations = std::move(seats);
    return setting;
}

std::string write_placement(const std::string& machine, const std::string& slots) {
    return R"({"format": "topoloom-placement", "version": 1, "machine": ")" + machine +
           R"(", "allocation": {"nodes": [0, 1]}, "placement": )" + slots +
           R"(, "values": {"hop_bytes": 1.5e3}})";
}

std::string write_decisions(const std::string& operation, const std::string& lines) {
    return "{\"format\": \"topoloom-decisions\", \"version\": 1,\n\"operation\": \"" + operation +
           "\",\n\"decisions\": [" + lines + "]}";
}

void check_error(const Setting& setting, const char* message) {
    CHECK_THROWS_WITH(Strategy{setting}, message);
}

void check_machine_error(const std::string& text, const char* message) {
    check_error(with_machine(text), message);
}

void check_decisions_error(const std::string& text, const char* message) {
    Setting setting;
    setting.ranks = 4;
    setting.decisions = text;
    check_error(setting, message);
}

}  // namespace

TEST_CASE("ranks are on the nodes whose numbers they give") {
    const CostBasis basis = find_cost_basis(with_machine(std::string("machine ") + ring, {3, 0, 3}));
    CHECK(basis.slots == std::vector{Slot{3}, Slot{0}, Slot{3}});
    CHECK(basis.nodes == 2);
    CHECK(find_cost_basis(with_machine(std::string("machine ") + ring)).slots ==
          std::vector{Slot{0}, Slot{1}, Slot{2}});
}

TEST_CASE("ranks are on their slots in the placement of the world communicator") {
    Setting setting = with_machine("message - 1e-6 1e-9", {5, 0, 4});
    setting.placement = write_placement("torus:4,bandwidth=10GB/s+node:2", "[7, 6, 5, 4, 3, 1]");
    const CostBasis basis = find_cost_basis(setting);
    CHECK(basis.slots == std::vector{Slot{1}, Slot{7}, Slot{3}});
    CHECK(basis.model.lines().front().beta == 1e-9);
}

TEST_CASE("ranks with equal host ids are on one node without a machine") {
    const CostBasis some = find_cost_basis(with_machine("", {77, 5, 77}));
    CHECK(some.nodes == 2);
    CHECK(some.slots == std::vector{Slot{0}, Slot{1}, Slot{0}});
    CHECK(find_cost_basis(with_machine("", {77, 77, 77})).nodes == 1);
    CHECK(find_cost_basis(with_machine("", {-1, -1, -1})).nodes == 3);
    CHECK(find_cost_basis(with_machine("")).nodes == 3);
}

TEST_CASE("message costs are taken from a machine file") {
    const CostBasis basis =
        find_cost_basis(with_machine("# measured\nmessage 2047 2e-6 1e-9\nmessage - 3e-6 5e-10 # large\r\n\n"
                                     "cost latency 637e-9\ncost receive_cpu 1e-6\nnode 0 a\n"
                                     "links 241 2.5 0.7\nlinks - 4 0.9"));
    REQUIRE(basis.model.lines().size() == 2);
    CHECK(basis.model.lines()[0].most == 2047);
    CHECK(basis.model.lines()[1].alpha == 3e-6);
    CHECK(basis.model.costs().latency == 637e-9);
    CHECK(basis.model.costs().receive_cpu == 1e-6);
    CHECK(basis.model.link_factors(Bytes{241}).latency == 2.5);
    CHECK(basis.model.link_factors(Bytes{242}).bandwidth == 0.9);
}

TEST_CASE("costs of single messages and of intra-node messages are taken from a machine file") {
    const NetworkModel model = find_cost_basis(with_machine("message - 2e-6 1e-9\nalone 99 3e-6 1e-9\n"
                                                            "alone - 9e-6 1e-9\ninside message - 1e-7 5e-11\n"
                                                            "inside alone - 4e-7 5e-11\n"
                                                            "inside cost send_cpu 1e-7"))
                                   .model;
    CHECK(model.arrival(Bytes{100}) == doctest::Approx(9.1e-6));
    REQUIRE(model.inside() != nullptr);
    CHECK(model.inside()->arrival(Bytes{0}) == 4e-7);
    CHECK(model.inside()->send_cpu(Bytes{0}) == 1e-7);
}

TEST_CASE("half of the time per message is receive overhead, also without a cost line for it") {
    const CostBasis basis = find_cost_basis(with_machine("message - 2e-6 1e-9"));
    CHECK(basis.model.receive_cpu(Bytes{0}) == 1e-6);
    const CostBasis with_links = find_cost_basis(with_machine("message - 2e-6 1e-9\nlinks - 2 0.5"));
    CHECK(with_links.model.link_factors(Bytes{0}).bandwidth == 0.5);
    CHECK(basis.model.cpu(Bytes{1000}) == doctest::Approx(basis.model.time(Bytes{1000})));
}

TEST_CASE("the maximum of several lines also includes receiver overhead") {
    const CostBasis basis = cost_basis_apart(8, NetworkModel::largest({{1e-6, 0}, {2e-7, 1e-10}}));
    CHECK(basis.model.takes_largest());
    CHECK(basis.model.time(Bytes{1'000'000}) == doctest::Approx(2e-7 + 1e-4));
    CHECK(basis.model.receive_cpu(Bytes{0}) == 5e-7);
}

TEST_CASE("a machine with a startup cost needs no message line") {
    const CostBasis basis =
        find_cost_basis(with_machine("machine torus:4,bandwidth=10GB/s+node:1,startup=3us"));
    CHECK(basis.model.time(Bytes{0}) == 3e-6);
}

TEST_CASE("errors of a machine file are one line with the line number") {
    check_machine_error("machine", "the machine file: line 1: expected 'machine TEXT'");
    check_machine_error("machine torus:4\nmachine torus:4",
                        "the machine file: line 2: the machine is given twice");
    check_machine_error(
        "graph torus:4",
        "the machine file: line 1: 'graph' is none of: machine, node, message, alone, inside, links, "
        "cost");
    check_machine_error("inside links - 1 1",
                        "the machine file: line 1: 'inside links' is none of: message, alone, cost");
    check_machine_error(
        "message - 1 0\ninside alone - 1 0",
        "the machine file: a machine file with 'inside' needs a line 'inside message - ALPHA BETA'");
    check_machine_error("\nmessage 5 1e-6", "the machine file: line 2: expected 'message MOST ALPHA BETA'");
    check_machine_error("message - 1us 0",
                        "the machine file: line 1: '1us' is not a number of seconds, 0 or more");
    check_machine_error("message x 1 0", "the machine file: line 1: 'x' is not a number of bytes, nor -");
    check_machine_error("message 9 1 0\nmessage 9 1 0",
                        "the machine file: line 2: message sizes must ascend, but 9 follows 9");
    check_machine_error("message 9 1 0",
                        "the machine file: the last regime must have no limit, but goes up to 9 bytes");
    check_machine_error(
        "cost latency 1",
        "the machine file: a machine file with 'alone', 'cost', 'inside' or 'links' needs a line "
        "'message - ALPHA "
        "BETA'");
    check_machine_error("links 9 1", "the machine file: line 1: expected 'links MOST LATENCY BANDWIDTH'");
    check_machine_error("links - 1 0", "the machine file: line 1: a bandwidth factor must be above 0");
    check_machine_error("links - x 1", "the machine file: line 1: 'x' is not a factor, 0 or more");
    check_machine_error("cost latency 1\ncost latency 1",
                        "the machine file: line 2: the cost latency is given twice");
    check_machine_error("machine torus:4xx",
                        "the machine: cannot read machine 'torus:4xx': expected a number at column 9");
    check_machine_error(
        "machine torus:4",
        "the links of 'torus:4' have no bandwidth; add one, as in torus:8x8x8,bandwidth=10GB/s");
    check_machine_error("machine torus:2,bandwidth=1GB/s",
                        "rank 2 is on node 2, but the machine has 2 nodes");
    check_error(with_machine(std::string("machine ") + ring, {0, -1, 1}),
                "the machine file: no line 'node NUMBER HOST' names the host of rank 1");
}

TEST_CASE("an error of a placement is one line") {
    Setting setting = with_machine("");
    const auto refuses_placement = [&](const std::string& text, const char* message) {
        setting.placement = text;
        check_error(setting, message);
    };
    refuses_placement("{", "the placement: line 1: expected a key in quotes, but the text ends");
    refuses_placement(R"({"format": "topoloom-decisions"})",
                      "the placement: line 1: the format is 'topoloom-decisions', not 'topoloom-placement'");
    refuses_placement(
        "{\"format\": \"topoloom-placement\",\n\"version\": 2}",
        "the placement: line 2: version 2 of topoloom-placement is not known; this Topoloom reads "
        "version 1");
    refuses_placement(write_placement(ring, "[0, 1]"),
                      "the placement has 2 ranks; rank 2 of the communicator is not one of them");
    refuses_placement(write_placement(ring, "[0, 1, 4]"),
                      "the placement: rank 2 is on slot 4, but 'torus:4,bandwidth=10GB/s' has 4");
    refuses_placement(
        write_placement(ring, "[0, 1, -4]"),
        "the placement: line 1: a slot of \"placement\" must be an integer from 0 to 4294967294");
    setting.machine = "machine torus:5,bandwidth=10GB/s";
    refuses_placement(write_placement(ring, "[0, 1, 2]"),
                      "the placement is for the machine 'torus:4,bandwidth=10GB/s', the machine file says "
                      "'torus:5,bandwidth=10GB/s'");
}

TEST_CASE("errors of a decision table are one line with the line number") {
    check_decisions_error("\n", "the decision table: line 2: expected a value, but the text ends");
    check_decisions_error(
        write_decisions("barrier", ""),
        "the decision table: line 3: the table of barrier has no decisions; add some, or remove "
        "the table");
    check_decisions_error("[]",
                          "the decision table: line 1: expected an object, {...}, with the key \"format\"");
    check_decisions_error(
        write_decisions("all-togather", ""),
        "the decision table: line 2: no collective 'all-togather'; there are: bcast, reduce, "
        "scatter, gather, allgather, allreduce, reduce_scatter, alltoall, barrier, many-to-many, "
        "many-to-many-multicast, scan, exscan");
    check_decisions_error(write_decisions("barrier", "\n{\"ranks\": 2}"),
                          "the decision table: line 4: the key \"bytes\" is missing");
    check_decisions_error(
        write_decisions("barrier", "\n{\"ranks\": 2, \"bytes\": 0, \"schedule\": \"ring\"}"),
        "the decision table: line 4: no barrier schedule 'ring'; there are: dissemination");
    check_decisions_error(
        write_decisions("scan", R"({"ranks": 4, "bytes": 1, "schedule": "recursive-doubling"},
                                          {"ranks": 2, "bytes": 1, "schedule": "recursive-doubling"})"),
        "the decision table: line 4: decisions must ascend by ranks, degree and bytes");
    const std::string scan =
        write_decisions("scan", R"({"ranks": 4, "bytes": 1, "schedule": "recursive-doubling"})");
    check_decisions_error(scan + "\n" + scan, "the decision table: line 4: a second table of scan");
}

TEST_CASE("an unknown schedule is refused, a schedule that does not support the number of ranks is not") {
    Setting setting;
    setting.ranks = 12;
    setting.schedule = "chain(segment=0)";
    check_error(setting, "chain: option segment is '0'; it must be an integer from 1 to 1073741824");
    setting.schedule = "brook";
    CHECK_THROWS_AS(Strategy{setting}, Error);
    setting.schedule = "scatter-allgather(gather=doubling)";
    CHECK_NOTHROW(Strategy{setting});
}
