// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/programs/goal_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
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
constexpr std::int64_t most_bytes = 1'000'000'000'000'000;
/// Limit of the work of an operation: 100 years, in nanoseconds.
constexpr std::int64_t most_nanoseconds = 3'000'000'000'000'000'000;

class GoalReader {
   public:
    explicit GoalReader(std::string_view text) : scanner_(text) {}

    OperationGraph read() {
        next_line();
        expect("num_ranks");
        const std::int64_t ranks = read_count("the number of ranks", most_ranks);
        if (ranks == 0) fail_at_line(line_, "there are 0 ranks; a program has one or more");
        end_line();
        parts_.resize(static_cast<std::size_t>(ranks));
        while (next_line()) {
            expect("rank");
            const auto rank = read_count("the number of a rank", ranks - 1);
            expect("{");
            end_line();
            read_rank(Rank{static_cast<std::uint32_t>(rank)});
        }
        return build_graph();
    }

   private:
    struct RankPart {
        bool is_given = false;
        std::vector<RankOperation> operations{};
        std::vector<Dependence> order{};  // with operation numbers within the rank
    };
    struct PendingDependence {
        std::string_view after, before;
        bool on_start;
        std::uint32_t line;
    };

    /// Moves to the next token on this or a later line. Returns false at the end of the text.
    bool next_line() {
        while (!scanner_.at_end()) {
            if (!rest_.empty()) return true;
            if (scanner_.at_line_end()) {
                end_line();
            } else if (!scanner_.at('/') || !skip_comment()) {
                return true;
            }
        }
        return false;
    }
    /// Skips a comment: `//` to the end of the line, or `/*` to `*/`. If the word begins no comment, restores
    /// it and returns false.
    bool skip_comment() {
        std::string_view word = scanner_.read_word("a comment");
        if (word.starts_with("//")) {
            skip_words();
            return true;
        }
        rest_ = word;
        if (!word.starts_with("/*")) return false;
        rest_ = {};
        const std::uint32_t begin = line_;
        for (word.remove_prefix(2); word.find("*/") == std::string_view::npos;
             word = scanner_.read_word("a comment")) {
            while (scanner_.at_line_end()) {
                if (scanner_.at_end()) fail_at_line(begin, "the comment that begins here has no end '*/'");
                end_line();
            }
        }
        rest_ = word.substr(word.find("*/") + 2);
        return true;
    }
    void skip_words() {
        while (!scanner_.at_line_end()) (void)scanner_.read_word("a comment");
    }
    void end_line() {
        while (rest_.empty() && !scanner_.at_line_end() && scanner_.at('/') && skip_comment()) continue;
        if (!rest_.empty()) scanner_.fail_at_previous("expected the end of the line, found ", quote(rest_));
        scanner_.end_line();
        ++line_;
    }
    /// Reads a word. A word ends before a blank or brace, or after a colon.
    std::string_view read_word(std::string_view expected) {
        std::string_view word = rest_.empty() ? scanner_.read_word(expected) : std::exchange(rest_, {});
        std::size_t end = word.find(':');
        end = end == std::string_view::npos ? word.size() : end + 1;
        if (word.size() > 1 && word.ends_with('{')) end = std::min(end, word.size() - 1);
        rest_ = word.substr(end);
        return word.substr(0, end);
    }
    void expect(std::string_view word) {
        if (read_word(quote(word)) != word) scanner_.fail_at_previous("expected ", quote(word));
    }
    static std::string quote(std::string_view word) { return "'" + std::string(word) + "'"; }
    /// Parses an integer followed by `unit`; returns nullopt for other words.
    static std::optional<std::int64_t> parse_integer(std::string_view word, std::string_view unit = "") {
        std::int64_t value = 0;
        const char* const end = word.data() + word.size() - std::min(word.size(), unit.size());
        const auto [stop, error] = std::from_chars(word.data(), end, value);
        if (error != std::errc{} || stop != end || !word.ends_with(unit) || value < 0) return std::nullopt;
        return value;
    }
    std::int64_t read_count(std::string_view what, std::int64_t most) {
        const std::string_view word = read_word(what);
        const std::optional<std::int64_t> value = parse_integer(word);
        if (!value) scanner_.fail_at_previous("expected ", what, ", found ", quote(word));
        if (*value > most) scanner_.fail_at_previous(what, " is ", *value, ", but at most ", most);
        return *value;
    }
    /// Reads the peer or tag of a message. Rejects -1, which some programs write for MPI_ANY_SOURCE and
    /// MPI_ANY_TAG.
    std::int64_t read_peer_or_tag(std::string_view what, std::string_view any, std::int64_t most) {
        if (scanner_.at_line_end() || !scanner_.at('-')) return read_count(what, most);
        scanner_.fail_at_previous("expected ", what, ", found ", quote(read_word(what)), ": messages from ",
                                  any, " are not read, as what they are depends on who comes first");
    }

    void read_rank(Rank rank) {
        RankPart& part = parts_[rank.value];
        if (std::exchange(part.is_given, true))
            fail_at_line(line_ - 1, "rank ", rank.value, " is given twice");
        std::unordered_map<std::string_view, OperationId> labels;
        std::vector<PendingDependence> waits;
        for (;;) {
            if (!next_line()) fail_at_line(line_, "expected '}' behind the operations of rank ", rank.value);
            std::string_view label = read_word("an operation or '}'");
            if (label == "}") break;
            if (is_operation_kind(label)) {
                part.operations.push_back(read_operation(rank, label));
            } else if (label.ends_with(':') || (!scanner_.at_line_end() && scanner_.take(':'))) {
                if (label.ends_with(':')) label.remove_suffix(1);
                if (!labels.emplace(label, OperationId{part.operations.size()}).second)
                    scanner_.fail_at_previous("label '", label, "' is given twice");
                part.operations.push_back(read_operation(rank, read_word("send, recv or calc")));
            } else {
                waits.push_back(read_dependence(label));
            }
            end_line();
        }
        end_line();
        for (const PendingDependence& wait : waits) {
            const auto find = [&](std::string_view label) {
                const auto found = labels.find(label);
                if (found == labels.end())
                    fail_at_line(wait.line, "rank ", rank.value, " has no operation '", label, "'");
                return found->second;
            };
            part.order.push_back({find(wait.after), find(wait.before), wait.on_start});
        }
    }

    PendingDependence read_dependence(std::string_view after) {
        const std::string_view how = read_word("'requires' or 'irequires'");
        if (how != "requires" && how != "irequires")
            scanner_.fail_at_previous("expected 'requires' or 'irequires' behind '", after,
                                      "'; a label of an operation ends in ':'");
        return {after, read_word("a label"), how == "irequires", line_};
    }

    static bool is_operation_kind(std::string_view word) {
        return word == "send" || word == "recv" || word == "calc";
    }

    RankOperation read_operation(Rank rank, std::string_view kind) {
        RankOperation made;
        made.rank = rank;
        made.line = line_;
        if (kind == "calc") {
            made.size = static_cast<std::uint64_t>(read_count("the nanoseconds of work", most_nanoseconds));
        } else if (kind == "send" || kind == "recv") {
            made.kind = kind == "send" ? RankOperation::Kind::send : RankOperation::Kind::receive;
            made.size = read_size();
            expect(kind == "send" ? "to" : "from");
            made.peer = Rank{
                static_cast<std::uint32_t>(read_peer_or_tag("the number of a rank", "any rank", most_ranks))};
        } else {
            scanner_.fail_at_previous("expected send, recv or calc, found ", quote(kind));
        }
        while (!scanner_.at_line_end()) {
            const std::string_view option = read_word("tag, cpu or nic");
            if (option == "tag")
                made.tag = static_cast<std::uint32_t>(
                    read_peer_or_tag("a tag", "any tag", std::numeric_limits<std::uint32_t>::max()));
            else if (option == "cpu")
                made.processor =
                    static_cast<std::uint16_t>(read_count("the number of a cpu", most_processors - 1));
            else if (option == "nic")
                (void)read_count("the number of a nic", most_processors - 1);
            else if (option.starts_with("//"))
                skip_words();
            else
                scanner_.fail_at_previous("expected tag, cpu or nic, found ", quote(option));
        }
        return made;
    }

    std::uint64_t read_size() {
        const std::string_view word = read_word("bytes, such as 8b");
        const std::optional<std::int64_t> bytes = parse_integer(word, "b");
        if (!bytes || *bytes > most_bytes)
            scanner_.fail_at_previous("expected bytes, such as 8b, found ", quote(word));
        return static_cast<std::uint64_t>(*bytes);
    }

    OperationGraph build_graph() {
        std::vector<RankOperation> operations;
        std::vector<Dependence> order;
        for (RankPart& part : parts_) {
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
    std::string_view rest_;  // the unread rest of the current word
    std::uint32_t line_ = 1;
    std::vector<RankPart> parts_;
};

}  // namespace

CommGraph communication_graph(const OperationGraph& graph) {
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

OperationGraph read_goal_text(std::string_view text) { return GoalReader(text).read(); }

}  // namespace topoloom
