// SPDX-License-Identifier: BSD-3-Clause
#include <doctest.h>

#include <string>

#include "topoloom/base/error.hpp"
#include "topoloom/network/programs/goal_text.hpp"

using namespace topoloom;

TEST_CASE("operations, dependencies and matching operations are parsed") {
    const OperationGraph graph = read_goal_text(
        "// two ranks\nnum_ranks 2\n\nrank 0 {\nl1: calc 100\nl2: send 8b to 1 tag 3 cpu 1 nic 0\nl2 "
        "requires "
        "l1\n}\nrank 1 {\na requires b\na: calc 5\nb: recv 8b from 0 tag 3\n}\n");
    REQUIRE(graph.operations().size() == 4);
    CHECK(graph.rank_count() == 2);
    const OperationId work{0}, send{1}, after{2}, receive{3};
    CHECK(graph[work].size == 100);
    CHECK(graph[send].processor == 1);
    CHECK(graph[send].match == receive);
    CHECK(graph[receive].match == send);
    CHECK(graph[receive].rank == Rank{1});
    CHECK(graph.dependence_count(send) == 1);
    CHECK(graph.dependence_count(work) == 0);
    REQUIRE(graph.dependents(receive).size() == 1);
    CHECK(graph.dependents(receive)[0].operation == after);
}

TEST_CASE("messages between two ranks match in order, by tag") {
    const OperationGraph graph = read_goal_text(
        "num_ranks 2\nrank 0 {\na: send 1b to 1\nb: send 2b to 1 tag 7\nc: send 3b to 1\n}\n"
        "rank 1 {\nd: recv 2b from 0 tag 7\ne: recv 1b from 0\nf: recv 3b from 0\n}\n");
    CHECK(graph[OperationId{0}].match == OperationId{4});
    CHECK(graph[OperationId{1}].match == OperationId{3});
    CHECK(graph[OperationId{2}].match == OperationId{5});
}

TEST_CASE("errors name only the operations in a cyclic wait") {
    const std::string begin = "num_ranks 2\nrank 0 {\nr: recv 8b from 1\ns: send 8b to 1\n";
    const std::string middle = "}\nrank 1 {\nr: recv 8b from 0\ns: send 8b to 0\n";
    CHECK_NOTHROW((void)read_goal_text(begin + middle + "}\n"));
    CHECK_NOTHROW((void)read_goal_text(begin + "s requires r\n" + middle + "}\n"));
    // "irequires" waits only for the start of a receive, and a receive starts at once.
    CHECK_NOTHROW((void)read_goal_text(begin + "s irequires r\n" + middle + "s irequires r\n}\n"));
    try {
        (void)read_goal_text(begin + "s requires r\n" + middle + "s requires r\n}\n");
        FAIL("a circle was read");
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find('\n') == std::string::npos);
        for (const char* part :
             {"cycle", "recv 8b from 1 of rank 0 (line 3)", "send 8b to 1 of rank 0 (line 4)",
              "recv 8b from 0 of rank 1 (line 8)", "send 8b to 0 of rank 1 (line 9)"})
            CHECK(text.find(part) != std::string::npos);
    }
    CHECK_THROWS_WITH_AS((void)read_goal_text("num_ranks 1\nrank 0 {\na: calc 1\na requires a\n}\n"),
                         doctest::Contains("cycle, each for the next: calc 1 of rank 0 (line 3)"), Error);
}

TEST_CASE("invalid GOAL is refused with a one-line error and its position") {
    const auto refused = [](const std::string& text, const std::string& why) {
        CHECK_THROWS_WITH_AS((void)read_goal_text(text), doctest::Contains(why.c_str()), Error);
    };
    const std::string one = "num_ranks 2\nrank 0 {\n";
    refused("", "num_ranks");
    refused("num_ranks 0\n", "there are 0 ranks");
    refused("num_ranks 2\nrank 2 {\n}\n", "line 2: ");
    refused(one + "}\nrank 0 {\n}\n", "line 4: rank 0 is given twice");
    refused(one + "a: calc 1\na: calc 2\n}\n", "line 4: label 'a' is given twice");
    refused(one + "a: calc 1\na requires b\n}\n", "line 4: rank 0 has no operation 'b'");
    refused(one + "a: calc 1\na after b\n}\n", "'requires' or 'irequires'");
    refused(one + "a: wait 1\n}\n", "expected send, recv or calc");
    refused(one + "a: send 8 to 1\n}\n", "expected bytes, such as 8b");
    refused(one + "a: send 8b to 2\n}\n", "there is no rank 2; ranks are 0 to 1");
    refused(one + "a: send 8b to 1\n}\n", "send 8b to 1 of rank 0 (line 3) is not received");
    refused(one + "a: recv 8b from 1\n}\n", "recv 8b from 1 of rank 0 (line 3) is not sent");
    refused(one + "a: send 8b to 1\n}\nrank 1 {\na: recv 9b from 0\n}\n", "is received as 9 bytes in line 6");
    refused(one + "a: calc 1\n", "expected '}'");
}

TEST_CASE("labels, blanks and comments are parsed as the GOAL tools do") {
    const OperationGraph graph = read_goal_text(
        "// by hand\nnum_ranks 2 /* ranks,\n  two of them */\n/* the first */ rank 0{\nsend 8b to 1 // at "
        "once\n"
        "a :calc 5\nb : calc 6\nc:calc 7 tag 3\nb requires a\n}\nrank 1 {\n  recv 8b from 0\n}\n");
    REQUIRE(graph.operations().size() == 5);
    CHECK(graph.name(OperationId{1}) == "calc 5 of rank 0 (line 6)");
    CHECK(graph.operations()[3].size == 7);
    CHECK(graph.dependence_count(OperationId{2}) == 1);
    const auto refusal = [](const std::string& text) -> std::string {
        try {
            (void)read_goal_text(text);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(refusal("num_ranks 1\n/* no\nend\n")
              .ends_with("line 2: the comment that begins here has no end '*/'"));
    CHECK(
        refusal("num_ranks 2\nrank 0 {\nrecv 8b from -1\n}\n").find("messages from any rank are not read") !=
        std::string::npos);
    CHECK(refusal("num_ranks 2\nrank 0 {\nrecv 8b from 1 tag -1\n}\n").find("messages from any tag") !=
          std::string::npos);
}
