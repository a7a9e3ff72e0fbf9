// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/metric/adaptive_split.hpp"

#include <tuple>

namespace topoloom {

namespace {

/// Congestion of a link as a linear function of the share f: start + slope * f.
struct CongestionLine {
    double start;
    double slope;
    [[nodiscard]] double at(double share) const { return start + slope * share; }
};

/// Returns the line of the busiest link at this share. If several links are busiest, chooses the largest
/// slope, or the smallest if `falling`.
CongestionLine find_busiest_line(double share, bool falling, std::span<const double> minimal,
                                 std::span<const double> detours, std::span<const LinkRun> runs) {
    CongestionLine top{0, 0};
    for (const LinkRun& run : runs) {
        for (std::size_t i = run.first.value; i < run.first.value + run.count; ++i) {
            const CongestionLine line{detours[i] / run.bandwidth.value,
                                      (minimal[i] - detours[i]) / run.bandwidth.value};
            const auto rank = [&](const CongestionLine& l) {
                return std::tuple(l.at(share), falling ? -l.slope : l.slope);
            };
            if (rank(line) > rank(top)) top = line;
        }
    }
    return top;
}

}  // namespace

/// The maximum over links is convex in f, with its minimum where a falling and a rising line cross. Starts
/// with the busiest lines at both ends. In each step, the line of a link that is above the crossing replaces
/// the falling or the rising line. No link is found twice, so there are few steps. The result is exact.
double best_minimal_share(std::span<const double> minimal, std::span<const double> detours,
                          std::span<const LinkRun> runs) {
    CongestionLine rising = find_busiest_line(1, true, minimal, detours, runs);
    if (rising.slope <= 0) return 1;
    CongestionLine falling = find_busiest_line(0, false, minimal, detours, runs);
    if (falling.slope > 0) return 0;
    while (true) {
        const double share = (falling.start - rising.start) / (rising.slope - falling.slope);
        const CongestionLine top = find_busiest_line(share, true, minimal, detours, runs);
        // Stops if the line is above the crossing only because of rounding.
        if (top.at(share) <= rising.at(share) * (1 + 1e-12)) return share;
        (top.slope > 0 ? rising : falling) = top;
    }
}

}  // namespace topoloom
