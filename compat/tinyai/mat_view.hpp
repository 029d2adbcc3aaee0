/* mat_view.hpp - a tiny::Mat as a placed tensor, and the one line that a refusal prints. */
#ifndef TINYAI_MAT_VIEW_HPP
#define TINYAI_MAT_VIEW_HPP

#include "tiny_matrix.hpp"

#include "place.h"

namespace
{

/* False if there are no elements to look at. */
[[maybe_unused]] bool look(tsr_tensor &t, const tiny::Mat &m)
{
    return m.data && m.row > 0 && m.col > 0 && tinyai_place(&t, m.data, m.row, m.col, m.step, 1) == TSR_OK;
}

[[maybe_unused]] tiny::Mat refuse(const char *what, const char *why)
{
    std::cerr << "[Error] " << what << ": " << why << "\n";
    return tiny::Mat();
}

[[maybe_unused]] bool is_there(const tiny::Mat &m) { return m.data && m.row > 0 && m.col > 0; }

} // namespace

#endif
