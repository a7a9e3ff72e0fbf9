// SPDX-License-Identifier: BSD-3-Clause
// Machines from lists of links, and the texts that describe them.
#include "topoloom/machine/text/graph_writer.hpp"

#include <string>
#include <vector>

#include "machine/machine_texts.hpp"

using namespace topoloom;

namespace {

/// The links of a machine without parallel links, as a list.
struct LinkList {
    std::vector<std::uint32_t> ends;
    std::vector<double> bandwidth;
    std::vector<double> latency;
};

LinkList list_links(const Machine& machine) {
    LinkList list;
    with_topology(machine, [&](const auto& t) {
        for (const Link link : ids<Link>(t.link_count())) {
            list.ends.push_back(t.ends(link).from);
            list.ends.push_back(t.ends(link).to);
            list.bandwidth.push_back(t.bandwidth(link).value);
            list.latency.push_back(t.latency(link).value);
        }
    });
    return list;
}

}  // namespace

TEST_CASE("the text of an explicit graph parses to the same links and routes") {
    for (const std::string& text : machine_texts()) {
        if (!text.starts_with("graph:") || text.find('+', text.find(':')) != text.rfind('+')) continue;
        const Machine machine = make_machine(text);
        const auto* const graph = std::get_if<ExplicitGraph>(&machine.topology());
        if (graph == nullptr) continue;
        CAPTURE(text);
        const std::string written = format_graph_text(graph->spec());
        const Machine again = make_machine(written);
        const auto& read = std::get<ExplicitGraph>(again.topology());
        CHECK(format_graph_text(read.spec()) == written);
        CHECK(read.spec().nodes == graph->spec().nodes);
        CHECK(read.spec().switches == graph->spec().switches);
        CHECK(read.spec().routes == graph->spec().routes);
        CHECK(read.spec().nodes_forward == graph->spec().nodes_forward);
        const LinkList before = list_links(machine);
        const LinkList after = list_links(again);
        CHECK(before.ends == after.ends);
        CHECK(before.bandwidth == after.bandwidth);
        CHECK(before.latency == after.latency);
    }
}

TEST_CASE("links may have a latency after their bandwidth") {
    const Machine machine = make_machine("graph:3:0-1@1GB/s@2us,1>2@1GB/s,2>1,bandwidth=1GB/s,latency=1us");
    const std::vector<double> expected{2e-6, 2e-6, 1e-6, 1e-6};
    CHECK(list_links(machine).latency == expected);
    CHECK(format_graph_text(std::get<ExplicitGraph>(machine.topology()).spec()) ==
          "graph:3:0-1@1GB/s@2us,1-2,bandwidth=1GB/s,latency=1us");
}

TEST_CASE("a list of links becomes a machine with those links, in both directions unless directed") {
    const std::vector<std::uint32_t> ends{2, 1, 0, 2};
    const std::vector<double> bandwidth{5e9, 1e9 / 3};
    const std::vector<double> latency{1e-6};
    const Machine both = make_graph_machine({ends, bandwidth, latency}, 2);
    CHECK(list_links(both).ends == std::vector<std::uint32_t>{0, 2, 1, 2, 2, 0, 2, 1});
    CHECK(list_links(both).bandwidth == std::vector<double>{1e9 / 3, 5e9, 1e9 / 3, 5e9});
    CHECK(list_links(make_machine(both.text())).bandwidth == list_links(both).bandwidth);
    const std::vector<std::uint32_t> round{0, 1, 1, 2, 2, 0};
    const std::vector<double> one{1};
    const std::vector<double> zero{0};
    const Machine ring = make_graph_machine({round, one, zero, true});
    CHECK(ring.hops(Node{1}, Node{0}) == 2);
    CHECK_THROWS(static_cast<void>(make_graph_machine({std::vector<std::uint32_t>{0, 1, 1, 0}, one, zero})));
}
