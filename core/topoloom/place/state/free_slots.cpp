// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/free_slots.hpp"

#include <algorithm>
#include <vector>

#include "topoloom/place/state/slot_tree.hpp"
#include "topoloom/place/state/space_pull.hpp"

namespace topoloom {

/// One virtual call a search, which looks at dozens of slots: those who ask need not know the space.
class FreeSlots::Search {
   public:
    virtual ~Search() = default;
    [[nodiscard]] virtual std::unique_ptr<Search> copy() const = 0;
    [[nodiscard]] virtual Position value(Position position) const = 0;
    virtual void set(Position position, Position value) = 0;
    [[nodiscard]] virtual Found nearest(const Partners& partners) const = 0;
};

template <class Space>
class FreeSlots::TreeSearch : public Search {
   public:
    TreeSearch(const Space& space, const Allocation& allocation)
        : space_(space), tree_(space, allocation, [](Position position) { return position; }) {}

    [[nodiscard]] std::unique_ptr<Search> copy() const override {
        return std::make_unique<TreeSearch>(*this);
    }
    [[nodiscard]] Position value(Position position) const override { return tree_.value(position); }
    void set(Position position, Position value) override { tree_.set(position, value); }

    [[nodiscard]] Found nearest(const Partners& partners) const override {
        std::vector<typename Space::Point> points;
        points.reserve(partners.positions.size() + 1);
        for (const Position position : partners.positions) points.push_back(tree_.point(position));
        std::span<const std::uint64_t> weights = partners.weights;
        std::vector<std::uint64_t> with_origin;
        if (partners.origin) {
            points.push_back(space_.point(*partners.origin));
            with_origin.assign(weights.begin(), weights.end());
            with_origin.push_back(partners.origin_weight);
            weights = with_origin;
        }
        Best best;
        best.found.evaluated =
            tree_.search(make_pull(space_, std::span<const typename Space::Point>(points), weights), best);
        return best.found;
    }

   private:
    /// Of a part, the first free slot.
    struct First {
        Position operator()(Position a, Position b) const { return std::min(a, b); }
    };
    struct Best {
        Found found;

        [[nodiscard]] static bool admits(Position first) { return first != Position::none; }
        [[nodiscard]] bool hopes(Position first, std::uint64_t bound) const {
            return admits(first) && (bound < found.cost || (bound == found.cost && first < found.position));
        }
        void offer(Position position, Position, std::uint64_t cost) {
            if (!hopes(position, cost)) return;
            found.position = position;
            found.cost = cost;
        }
    };

    Space space_;
    SlotTree<Space, Position, First> tree_;
};

FreeSlots::FreeSlots(const Allocation& allocation) : free_(allocation.slot_count()) {
    with_space(allocation.machine(), [&]<class Space>(const Space& space) {
        search_ = std::make_unique<TreeSearch<Space>>(space, allocation);
    });
}

FreeSlots::FreeSlots(const FreeSlots& other) : search_(other.search_->copy()), free_(other.free_) {}

FreeSlots::~FreeSlots() = default;

bool FreeSlots::is_free(Position position) const { return search_->value(position) != Position::none; }

void FreeSlots::take(Position position) {
    search_->set(position, Position::none);
    --free_;
}

void FreeSlots::release(Position position) {
    search_->set(position, position);
    ++free_;
}

FreeSlots::Found FreeSlots::nearest(const Partners& partners) const { return search_->nearest(partners); }

}  // namespace topoloom
