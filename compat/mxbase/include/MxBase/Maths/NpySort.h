/* NpySort.h - the order of numbers, as numpy.argsort gives it. */
#ifndef MINDXSDK_NPYAQUICKSORT_H
#define MINDXSDK_NPYAQUICKSORT_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "MxBase/Log/Log.h"

class NpySort {
public:
    NpySort() = default;
    NpySort(std::vector<float> values, std::vector<int> indices)
        : values_(std::move(values)), indices_(std::move(indices)) {}

    /* Orders the indices by their values, NaN last, equals in the order they are in; reversed if that is
     * asked. Nothing is done unless there is one index for each value. */
    void NpyArgQuickSort(bool reverse)
    {
        if (!AreIndices()) {
            LogWarn << "NpySort: the indices are not those of the values.";
            return;
        }
        std::stable_sort(indices_.begin(), indices_.end(), [this](int a, int b) {
            return values_[a] < values_[b] || (std::isnan(values_[b]) && !std::isnan(values_[a]));
        });
        if (reverse) std::reverse(indices_.begin(), indices_.end());
    }

    std::vector<int> GetSortIdx() { return indices_; }

private:
    bool AreIndices() const
    {
        const int count = static_cast<int>(values_.size());
        return indices_.size() == values_.size() &&
               std::all_of(indices_.begin(), indices_.end(), [=](int i) { return i >= 0 && i < count; });
    }

    std::vector<float> values_;
    std::vector<int> indices_;
};

#endif
