// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/machine_file.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

struct NamedCost {
    std::string_view name;
    double MessageCosts::* value;
};

constexpr NamedCost named_costs[] = {
    {"latency", &MessageCosts::latency},
    {"send_cpu", &MessageCosts::send_cpu},
    {"send_cpu_per_byte", &MessageCosts::send_cpu_per_byte},
    {"receive_cpu", &MessageCosts::receive_cpu},
    {"receive_cpu_per_byte", &MessageCosts::receive_cpu_per_byte},
    {"combine", &MessageCosts::combine},
    {"gamma", &MessageCosts::gamma},
    {"reduce", &MessageCosts::reduce},
    {"delta", &MessageCosts::delta},
    {"beta_em", &MessageCosts::beta_em},
    {"node_alpha", &MessageCosts::node_alpha},
    {"node_beta", &MessageCosts::node_beta},
    {"packet", &MessageCosts::packet},
    {"barrier_round", &MessageCosts::barrier_round},
};

std::vector<std::string_view> split_words(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    std::vector<std::string_view> words;
    line = line.substr(0, line.find('#'));
    for (;;) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        if (line.empty()) return words;
        words.push_back(line.substr(0, line.find_first_of(blanks)));
        line.remove_prefix(words.back().size());
    }
}

/// The message costs parsed so far.
struct ModelLines {
    std::vector<CostLine> lines{}, alone{};
    std::vector<LinkFactors> factors{};
    MessageCosts costs{};
    std::set<std::string_view> named{};

    [[nodiscard]] bool is_empty() const {
        return lines.empty() && alone.empty() && factors.empty() && named.empty();
    }
    [[nodiscard]] NetworkModel model() && {
        return NetworkModel::regimes(std::move(lines), costs)
            .with_link_factors(std::move(factors))
            .with_single_message_lines(std::move(alone));
    }
};

class MachineFileParser {
   public:
    void read(std::string_view text) {
        for (number_ = 1; !text.empty(); ++number_) {
            const std::size_t end = text.find('\n');
            read_line(split_words(text.substr(0, end)));
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
    }
    MachineFile finish() && {
        if (model_.lines.empty() && !(model_.is_empty() && inside_.is_empty()))
            fail(
                "a machine file with 'alone', 'cost', 'inside' or 'links' needs a line 'message - ALPHA "
                "BETA'");
        if (inside_.lines.empty() && !inside_.is_empty())
            fail("a machine file with 'inside' needs a line 'inside message - ALPHA BETA'");
        if (!model_.lines.empty()) file_.model = std::move(model_).model();
        if (!inside_.lines.empty())
            file_.model = file_.model->with_intra_node_model(std::move(inside_).model());
        return std::move(file_);
    }

   private:
    void read_line(const std::vector<std::string_view>& words) {
        if (words.empty()) return;
        if (words[0] == "machine") {
            if (words.size() != 2) fail_at_line(number_, "expected 'machine TEXT'");
            if (!file_.machine.empty()) fail_at_line(number_, "the machine is given twice");
            file_.machine = words[1];
        } else if (words[0] == "inside") {
            read_model({words.begin() + 1, words.end()}, inside_);
        } else if (words[0] != "node") {
            read_model(words, model_);
        }
    }
    void read_model(const std::vector<std::string_view>& words, ModelLines& model) {
        const std::string_view what = words.empty() ? "" : words[0];
        if (what == "message" || what == "alone") {
            read_message(words, what == "alone" ? model.alone : model.lines);
        } else if (what == "links" && &model != &inside_) {
            read_links(words);
        } else if (what == "cost") {
            read_cost(words, model);
        } else if (&model == &inside_) {
            fail_at_line(number_, "'inside ", what, "' is none of: message, alone, cost");
        } else {
            fail_at_line(number_, "'", what,
                         "' is none of: machine, node, message, alone, inside, links, cost");
        }
    }
    void read_message(const std::vector<std::string_view>& words, std::vector<CostLine>& lines) {
        if (words.size() != 4) fail_at_line(number_, "expected '", words[0], " MOST ALPHA BETA'");
        CostLine line;
        line.most = parse_max_size(words[1], lines);
        line.alpha = parse_number_of_seconds(words[2]);
        line.beta = parse_number_of_seconds(words[3]);
        lines.push_back(line);
    }
    void read_links(const std::vector<std::string_view>& words) {
        if (words.size() != 4) fail_at_line(number_, "expected 'links MOST LATENCY BANDWIDTH'");
        LinkFactors links;
        links.most = parse_max_size(words[1], model_.factors);
        links.latency = parse_number(words[2], "a factor");
        links.bandwidth = parse_number(words[3], "a factor");
        if (links.bandwidth == 0) fail_at_line(number_, "a bandwidth factor must be above 0");
        model_.factors.push_back(links);
    }
    void read_cost(const std::vector<std::string_view>& words, ModelLines& model) {
        if (words.size() != 3) fail_at_line(number_, "expected 'cost NAME VALUE'");
        std::vector<std::string> known;
        for (const NamedCost& cost : named_costs) {
            known.emplace_back(cost.name);
            if (cost.name != words[1]) continue;
            if (!model.named.insert(cost.name).second)
                fail_at_line(number_, "the cost ", cost.name, " is given twice");
            model.costs.*cost.value = parse_number_of_seconds(words[2]);
            return;
        }
        fail_at_line(number_, unknown_name_message("cost", std::string(words[1]), known));
    }
    double parse_number_of_seconds(std::string_view word) const {
        return parse_number(word, "a number of seconds");
    }
    double parse_number(std::string_view word, std::string_view what) const {
        double read = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), read);
        if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(read) || read < 0)
            fail_at_line(number_, "'", word, "' is not ", what, ", 0 or more");
        return read;
    }
    /// Parses the maximum message size of a line, which must be larger than those of the lines in `before`.
    template <class Part>
    std::int64_t parse_max_size(std::string_view word, const std::vector<Part>& before) const {
        const std::int64_t size = word == "-" ? Part{}.most : parse_bytes(word);
        if (!before.empty() && size <= before.back().most)
            fail_at_line(number_, "message sizes must ascend, but ", word, " follows ", before.back().most);
        return size;
    }
    std::int64_t parse_bytes(std::string_view word) const {
        std::int64_t read = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), read);
        if (error != std::errc() || end != word.data() + word.size() || read < 0)
            fail_at_line(number_, "'", word, "' is not a number of bytes, nor -");
        return read;
    }

    std::size_t number_ = 0;
    MachineFile file_;
    ModelLines model_, inside_;
};

}  // namespace

MachineFile read_machine_file(std::string_view text) {
    MachineFileParser lines;
    lines.read(text);
    return std::move(lines).finish();
}

}  // namespace topoloom
