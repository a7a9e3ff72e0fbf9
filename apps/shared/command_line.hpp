// SPDX-License-Identifier: BSD-3-Clause
// Command lines of applications: options that set values, --help, and one line for an error.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace apps {

/// Parses a whole number from `first` to `last`, decimal. Returns false for other text.
inline bool parse_number(const std::string& text, int first, int last, int& number) {
    char* end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || value < first || value > last) return false;
    number = static_cast<int>(value);
    return true;
}

/// Parses one whole number per axis, from 1 to `last`, such as 4x2x2. Returns false for other text.
template <std::size_t axes>
bool parse_extents(std::string text, int last, std::array<int, axes>& extents) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
        const std::size_t cross = axis + 1 < axes ? text.find('x') : text.size();
        if (cross == std::string::npos || !parse_number(text.substr(0, cross), 1, last, extents[axis]))
            return false;
        text.erase(0, cross + 1);
    }
    return true;
}

/// The options of a program. Each sets a variable, which keeps its value if the option is absent.
class CommandLine {
   public:
    explicit CommandLine(std::string program) : program_(std::move(program)) {}

    /// Adds an option without a value.
    void add_flag(const std::string& name, bool& value) { flags_[name] = &value; }

    /// Adds an option whose value is parsed by a function, which returns false unless the value is as `expected`.
    void add(const std::string& name, const std::string& expected,
             std::function<bool(const std::string&)> parse) {
        values_[name] = {expected, std::move(parse)};
    }

    void add_text(const std::string& name, std::string& value) {
        add(name, "text", [&value](const std::string& text) { return (value = text, true); });
    }

    void add_number(const std::string& name, int first, int last, int& value) {
        add(name, "a whole number from " + std::to_string(first) + " to " + std::to_string(last),
            [first, last, &value](const std::string& text) {
                return parse_number(text, first, last, value);
            });
    }

    void add_number(const std::string& name, int first, int last, double& value) {
        add(name, "a number from " + std::to_string(first) + " to " + std::to_string(last),
            [first, last, &value](const std::string& text) {
                char* end = nullptr;
                value = std::strtod(text.c_str(), &end);
                return !text.empty() && *end == '\0' && value >= first && value <= last;
            });
    }

    void add_choice(const std::string& name, const std::vector<std::string>& choices, std::string& value) {
        std::string expected = choices.front();
        for (std::size_t i = 1; i < choices.size(); ++i)
            expected += (i + 1 < choices.size() ? ", " : " or ") + choices[i];
        add(name, expected, [choices, &value](const std::string& text) {
            value = text;
            return std::find(choices.begin(), choices.end(), text) != choices.end();
        });
    }

    /// Sets the variables. Returns an error message, or an empty string.
    std::string parse(int argc, char** argv) {
        for (int i = 1; i < argc; ++i) {
            const std::string name = argv[i];
            given_.insert(name);
            if (name == "--help" || name == "-h") {
                wants_help_ = true;
            } else if (const auto flag = flags_.find(name); flag != flags_.end()) {
                *flag->second = true;
            } else if (const auto option = values_.find(name); option == values_.end()) {
                return "unknown option '" + name + "'; " + program_ + " --help lists them";
            } else if (++i == argc) {
                return name + " needs a value";
            } else if (!option->second.parse(argv[i])) {
                return name + " is '" + argv[i] + "', expected " + option->second.expected;
            }
        }
        return "";
    }

    [[nodiscard]] bool has(const std::string& name) const { return given_.count(name) > 0; }
    [[nodiscard]] bool wants_help() const { return wants_help_; }

   private:
    struct Value {
        std::string expected;
        std::function<bool(const std::string&)> parse;
    };

    std::string program_;
    std::map<std::string, bool*> flags_;
    std::map<std::string, Value> values_;
    std::set<std::string> given_;
    bool wants_help_ = false;
};

/// The main function of an application: reads the command line, calls run(options, rank, ranks) and returns its exit
/// status. An error in the command line is printed once; the status is then 2. Beside Options must stand
/// - add_options(CommandLine&, Options&), and
/// - check_options(const CommandLine&, Options&, int ranks), which returns an error message, or an empty string.
template <class Options, class Run>
int run_program(int argc, char** argv, const char* program, const char* usage, const Run& run) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1, status = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Options options;
    CommandLine line(program);
    add_options(line, options);
    std::string problem = line.parse(argc, argv);
    if (problem.empty() && !line.wants_help()) problem = check_options(line, options, ranks);
    if (!problem.empty()) {
        if (rank == 0) std::fprintf(stderr, "%s: %s\n", program, problem.c_str());
        status = 2;
    } else if (line.wants_help()) {
        if (rank == 0) std::fputs(usage, stdout);
    } else {
        status = run(options, rank, ranks);
    }
    MPI_Finalize();
    return status;
}

}  // namespace apps
