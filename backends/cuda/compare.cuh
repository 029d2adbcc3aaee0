/* compare.cuh - comparisons of integers and of real numbers; any number but 0 is true. */
#ifndef TSRC_COMPARE_CUH
#define TSRC_COMPARE_CUH

#include "numbers.cuh"

namespace tsrc {

template <class T> TSRC_FN bool op_logical_not(T x) { return x == 0; }
template <class T> TSRC_FN bool op_eq(T x, T y) { return x == y; }
template <class T> TSRC_FN bool op_ne(T x, T y) { return x != y; }
template <class T> TSRC_FN bool op_lt(T x, T y) { return x < y; }
template <class T> TSRC_FN bool op_le(T x, T y) { return x <= y; }
template <class T> TSRC_FN bool op_gt(T x, T y) { return x > y; }
template <class T> TSRC_FN bool op_ge(T x, T y) { return x >= y; }
template <class T> TSRC_FN bool op_logical_and(T x, T y) { return x != 0 && y != 0; }
template <class T> TSRC_FN bool op_logical_or(T x, T y)  { return x != 0 || y != 0; }
template <class T> TSRC_FN bool op_logical_xor(T x, T y) { return (x != 0) != (y != 0); }

} // namespace tsrc

#endif
