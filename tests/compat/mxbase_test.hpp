/* mxbase_test.hpp - what the tests of mxbase share. */
#ifndef TSR_TEST_MXBASE_TEST_HPP
#define TSR_TEST_MXBASE_TEST_HPP

#include <stdexcept>

#include "test.h"

template <typename F> static inline bool throws_runtime_error(F f)
{
    try {
        f();
    } catch (const std::runtime_error &) {
        return true;
    }
    return false;
}

#endif
