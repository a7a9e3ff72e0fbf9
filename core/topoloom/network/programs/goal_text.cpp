// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/goal_text.hpp"

#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/pattern/readers/text_scanner.hpp"

namespace topoloom {

namespace {

constexpr std::int64_t most_ranks = std::int64_t{1} << 24;
constexpr std::int64_t most_processors = 1024;
/// A century of work.
constexpr std::int64_t most_nanoseconds = 3'000'000'000'000'000'000;

class Reader {
   public:
    explicit Reader(std::string_view text) : scanner_(text) {}

    OperationGraph read() {
        next_line();
        expect("num_ranks");
        const std::int64_t ranks = count("the number of ranks", most_ranks);
        if (ranks == 0) fail_at_line(line_, "there are 0 ranks; a program has one or more");
        end_line();
        parts_.resize(static_cast<std::size_t>(ranks));
        while (next_line()) {
            expect("rank");
            const auto rank = count("the number of a rank", ranks - 1);
            expect("{");
            end_line();
            read_rank(Rank{static_cast<std::uint32_t>(rank)});
        }
        return joined();
    }

   private:
    struct Part {
        bool is_given = false;
        std::vector<RankOperation> operations{};
        std::vector<Dependence> order{};  // numbers within the rank
    };
    struct Wait {
        std::string_view after, before;
        bool on_start;
        std::uint32_t line;
    };

    /// Goes to a line that says something; false: there is none.
    bool next_line() {
        while (!scanner_.at_end()) {
            if (!scanner_.at_line_end() && !scanner_.at('/')) return true;
            scanner_.skip_line();
            ++line_;
        }
        return false;
    }
    void end_line() {
        scanner_.end_line();
        ++line_;
    }
    void expect(std::string_view word) {
        if (scanner_.read_word(quote(word)) != word) scanner_.refuse("expected ", quote(word));
    }
    static std::string quote(std::string_view word) { return "'" + std::string(word) + "'"; }
    std::int64_t count(std::string_view what, std::int64_t most) {
        const std::int64_t value = scanner_.read_count(what);
        if (value > most) scanner_.refuse(what, " is ", value, ", but at most ", most);
        return value;
    }

    void read_rank(Rank rank) {
        Part& part = parts_[rank.value];
        if (std::exchange(part.is_given, true))
            fail_at_line(line_ - 1, "rank ", rank.value, " is given twice");
        std::unordered_map<std::string_view, OperationId> labels;
        std::vector<Wait> waits;
        for (;;) {
            if (!next_line()) fail_at_line(line_, "expected '}' behind the operations of rank ", rank.value);
            const std::string_view word = scanner_.read_word("an operation or '}'");
            if (word == "}") break;
            if (word.ends_with(':')) {
                const OperationId id{part.operations.size()};
                if (!labels.emplace(word.substr(0, word.size() - 1), id).second)
                    scanner_.refuse("label '", word.substr(0, word.size() - 1), "' is given twice");
                part.operations.push_back(operation(rank));
            } else {
                waits.push_back(wait(word));
            }
            end_line();
        }
        end_line();
        for (const Wait& wait : waits) {
            const auto find = [&](std::string_view label) {
                const auto found = labels.find(label);
                if (found == labels.end())
                    fail_at_line(wait.line, "rank ", rank.value, " has no operation '", label, "'");
                return found->second;
            };
            part.order.push_back({find(wait.after), find(wait.before), wait.on_start});
        }
    }

    Wait wait(std::string_view after) {
        const std::string_view how = scanner_.read_word("'requires' or 'irequires'");
        if (how != "requires" && how != "irequires")
            scanner_.refuse("expected 'requires' or 'irequires' behind '", after,
                            "'; a label of an operation ends in ':'");
        return {after, scanner_.read_word("a label"), how == "irequires", line_};
    }

    RankOperation operation(Rank rank) {
        RankOperation made;
        made.rank = rank;
        made.line = line_;
        const std::string_view kind = scanner_.read_word("send, recv or calc");
        if (kind == "calc") {
            made.size = static_cast<std::uint64_t>(count("the nanoseconds of work", most_nanoseconds));
        } else if (kind == "send" || kind == "recv") {
            made.kind = kind == "send" ? RankOperation::Kind::send : RankOperation::Kind::receive;
            made.size = size();
            expect(kind == "send" ? "to" : "from");
            made.peer = Rank{static_cast<std::uint32_t>(count("the number of a rank", most_ranks))};
        } else {
            scanner_.refuse("expected send, recv or calc");
        }
        while (!scanner_.at_line_end()) {
            const std::string_view option = scanner_.read_word("tag, cpu or nic");
            if (option == "tag")
                made.tag =
                    static_cast<std::uint32_t>(count("a tag", std::numeric_limits<std::uint32_t>::max()));
            else if (option == "cpu")
                made.processor =
                    static_cast<std::uint16_t>(count("the number of a cpu", most_processors - 1));
            else if (option == "nic")
                (void)count("the number of a nic", most_processors - 1);
            else
                scanner_.refuse("expected tag, cpu or nic");
        }
        return made;
    }

    std::uint64_t size() {
        const std::string_view word = scanner_.read_word("bytes, such as 8b");
        std::uint64_t bytes = 0;
        bool is_number = word.size() > 1 && word.size() < 17 && word.back() == 'b';
        for (const char digit : word.substr(0, word.size() - 1)) {
            is_number = is_number && digit >= '0' && digit <= '9';
            bytes = bytes * 10 + static_cast<std::uint64_t>(digit - '0');
        }
        if (!is_number) scanner_.refuse("expected bytes, such as 8b");
        return bytes;
    }

    OperationGraph joined() {
        std::vector<RankOperation> operations;
        std::vector<Dependence> order;
        for (Part& part : parts_) {
            const auto first = static_cast<std::uint32_t>(operations.size());
            operations.insert(operations.end(), part.operations.begin(), part.operations.end());
            for (const Dependence& one : part.order)
                order.push_back({OperationId{one.after.value + first}, OperationId{one.before.value + first},
                                 one.on_start});
            part.operations = {};
            part.order = {};
        }
        return {parts_.size(), std::move(operations), order};
    }

    TextScanner scanner_;
    std::uint32_t line_ = 1;
    std::vector<Part> parts_;
};

}  // namespace

CommGraph messages_of(const OperationGraph& graph) {
    std::vector<Rank> from, to;
    std::vector<Bytes> bytes;
    for (const RankOperation& one : graph.operations()) {
        if (one.kind != RankOperation::Kind::send) continue;
        from.push_back(one.rank);
        to.push_back(one.peer);
        bytes.push_back(Bytes{static_cast<std::int64_t>(one.size)});
    }
    return CommGraph::from_edges(graph.rank_count(), from, to, bytes);
}

OperationGraph read_goal_text(std::string_view text) { return Reader(text).read(); }

}  // namespace topoloom
