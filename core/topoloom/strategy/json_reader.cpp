// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/json_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& text, std::uint32_t code) {
    const auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) {
        text += static_cast<char>(code);
    } else if (code < 0x800) {
        text += static_cast<char>(0xC0 | code >> 6);
        text += tail(0);
    } else if (code < 0x10000) {
        text += static_cast<char>(0xE0 | code >> 12);
        text += {tail(6), tail(0)};
    } else {
        text += static_cast<char>(0xF0 | code >> 18);
        text += {tail(12), tail(6), tail(0)};
    }
}

class Reader {
   public:
    explicit Reader(std::string_view text) : rest_(text) {}

    Json value() {
        skip_blanks();
        const std::size_t line = line_;
        if (++depth_ > 64) fail_at_line(line_, "lists and objects are nested more than 64 deep");
        Json::Value read = parse_value();
        --depth_;
        return {line, std::move(read)};
    }
    bool at_end() {
        skip_blanks();
        return rest_.empty();
    }
    void expect_end() {
        if (!at_end()) fail_expected("the end of the text");
    }

   private:
    [[noreturn]] void fail_expected(std::string_view what) const {
        if (rest_.empty()) fail_at_line(line_, "expected ", what, ", but the text ends");
        fail_at_line(line_, "expected ", what, " at '",
                     rest_.substr(0, rest_.find_first_of("\r\n")).substr(0, 20), "'");
    }
    void skip_blanks() {
        std::size_t i = 0;
        for (; i < rest_.size() && std::string_view(" \t\r\n").find(rest_[i]) != std::string_view::npos; ++i)
            line_ += rest_[i] == '\n';
        rest_.remove_prefix(i);
    }
    bool skip_if(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool skip_word_if(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    Json::Value parse_value() {
        if (skip_if('{')) return parse_object();
        if (skip_if('[')) return parse_list();
        if (skip_if('"')) return text();
        if (skip_word_if("true")) return true;
        if (skip_word_if("false")) return false;
        if (skip_word_if("null")) return std::monostate{};
        return number();
    }
    Json::Object parse_object() {
        Json::Object entries;
        skip_blanks();
        if (skip_if('}')) return entries;
        do {
            skip_blanks();
            if (!skip_if('"')) fail_expected("a key in quotes");
            std::string key = text();
            if (std::ranges::any_of(entries, [&](const auto& entry) { return entry.first == key; }))
                fail_at_line(line_, "the key \"", key, "\" is given twice");
            skip_blanks();
            if (!skip_if(':')) fail_expected("':'");
            entries.emplace_back(std::move(key), value());
            skip_blanks();
        } while (skip_if(','));
        if (!skip_if('}')) fail_expected("',' or '}'");
        return entries;
    }
    Json::List parse_list() {
        Json::List values;
        skip_blanks();
        if (skip_if(']')) return values;
        do {
            values.push_back(value());
            skip_blanks();
        } while (skip_if(','));
        if (!skip_if(']')) fail_expected("',' or ']'");
        return values;
    }
    std::string text() {
        std::string read;
        for (;;) {
            if (rest_.empty()) fail_expected("'\"'");
            const char c = rest_.front();
            if (c == '\n' || c == '\r') fail_at_line(line_, "expected '\"', but the line ends");
            if (static_cast<unsigned char>(c) < 0x20) fail_expected("'\"' before a control character");
            rest_.remove_prefix(1);
            if (c == '"') return read;
            if (c == '\\') {
                parse_escape(read);
            } else {
                read += c;
            }
        }
    }
    void parse_escape(std::string& read) {
        constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        if (skip_if('u')) return append_utf8(read, parse_code_point());
        const std::size_t which = rest_.empty() ? std::string_view::npos : letters.find(rest_.front());
        if (which == std::string_view::npos) fail_expected("an escape such as \\n");
        read += meant[which];
        rest_.remove_prefix(1);
    }
    std::uint32_t parse_code_point() {
        const std::uint32_t high = parse_four_digits();
        if (high < 0xD800 || high > 0xDFFF) return high;
        if (high > 0xDBFF || !skip_word_if("\\u")) fail_expected("a pair of surrogates");
        const std::uint32_t low = parse_four_digits();
        if (low < 0xDC00 || low > 0xDFFF) fail_expected("a pair of surrogates");
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    }
    std::uint32_t parse_four_digits() {
        std::uint32_t code = 0;
        const char* end = rest_.data() + std::min<std::size_t>(4, rest_.size());
        if (const auto read = std::from_chars(rest_.data(), end, code, 16);
            read.ec != std::errc() || read.ptr != rest_.data() + 4)
            fail_expected("four hexadecimal digits");
        rest_.remove_prefix(4);
        return code;
    }
    double number() {
        std::size_t length = rest_.starts_with('-') ? 1 : 0;
        const auto digits = [&] {
            const std::size_t first = length;
            while (length < rest_.size() && is_digit(rest_[length])) ++length;
            return length - first;
        };
        const std::size_t first = length;
        const std::size_t count = digits();
        bool right = count == 1 || (count > 1 && rest_[first] != '0');
        if (right && length < rest_.size() && rest_[length] == '.') {
            ++length;
            right = digits() > 0;
        }
        if (right && length < rest_.size() && (rest_[length] == 'e' || rest_[length] == 'E')) {
            ++length;
            if (length < rest_.size() && (rest_[length] == '+' || rest_[length] == '-')) ++length;
            right = digits() > 0;
        }
        double read = 0;
        if (!right || std::from_chars(rest_.data(), rest_.data() + length, read).ec != std::errc())
            fail_expected("a value");
        rest_.remove_prefix(length);
        return read;
    }

    std::string_view rest_;
    std::size_t line_ = 1;
    std::size_t depth_ = 0;
};

}  // namespace

const std::string& Json::text(std::string_view what) const {
    const auto* text = std::get_if<std::string>(&value_);
    if (text == nullptr) fail_at_line(line_, what, " must be a string");
    return *text;
}

std::int64_t Json::whole(std::string_view what, std::int64_t low, std::int64_t high) const {
    const auto* number = std::get_if<double>(&value_);
    if (number == nullptr || *number != std::floor(*number) || *number < static_cast<double>(low) ||
        *number > static_cast<double>(high))
        fail_at_line(line_, what, " must be an integer from ", low, " to ", high);
    return static_cast<std::int64_t>(*number);
}

const Json::List& Json::list(std::string_view what) const {
    const auto* list = std::get_if<List>(&value_);
    if (list == nullptr) fail_at_line(line_, what, " must be a list");
    return *list;
}

const Json* Json::find(std::string_view key) const {
    const auto* object = std::get_if<Object>(&value_);
    if (object == nullptr) fail_at_line(line_, "expected an object, {...}, with the key \"", key, "\"");
    const auto found = std::ranges::find_if(*object, [&](const auto& entry) { return entry.first == key; });
    return found == object->end() ? nullptr : &found->second;
}

const Json& Json::at(std::string_view key) const {
    const Json* found = find(key);
    if (found == nullptr) fail_at_line(line_, "the key \"", key, "\" is missing");
    return *found;
}

Json read_json(std::string_view text) {
    Reader reader(text);
    Json value = reader.value();
    reader.expect_end();
    return value;
}

std::vector<Json> read_json_values(std::string_view text) {
    Reader reader(text);
    std::vector<Json> values;
    do values.push_back(reader.value());
    while (!reader.at_end());
    return values;
}

void check_format(const Json& document, std::string_view format, std::int64_t version) {
    const Json& found = document.at("format");
    if (found.text("\"format\"") != format)
        fail_at_line(found.line(), "the format is '", found.text("format"), "', not '", format, "'");
    constexpr std::int64_t most = 1 << 30;
    if (const Json& given = document.at("version"); given.whole("\"version\"", 0, most) != version)
        fail_at_line(given.line(), "version ", given.whole("version", 0, most), " of ", format,
                     " is not known; this Topoloom reads version ", version);
}

}  // namespace topoloom
