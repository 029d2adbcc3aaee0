/* test_tinyai_memory.cpp - tiny::Tensor takes its data, and nothing else, by the macros of its
 * configuration, and bears their failing. */
#include <cstdlib>

static int taken, given_back, refuse_after = -1;

static void *take(size_t bytes)
{
    if (refuse_after == 0) return nullptr;
    if (refuse_after > 0) refuse_after--;
    taken++;
    return std::malloc(bytes);
}

static void give_back(void *p)
{
    given_back++;
    std::free(p);
}

#define TINY_AI_MALLOC(sz) take(sz)
#define TINY_AI_FREE(ptr) give_back(ptr)

#include "test.h"
#include "tiny_ai.h"

using namespace tiny;

static void start(int refuse)
{
    taken = given_back = 0;
    refuse_after = refuse;
}

TEST(test_a_tensor_takes_one_block)
{
    start(-1);
    {
        Tensor a(2, 3), b = Tensor::zeros_like(a), none, zero(0);
        EXPECT(taken == 2);
        Tensor moved = std::move(a);
        none = std::move(moved);
        EXPECT(taken == 2 && given_back == 0);
        b = none;
        EXPECT(taken == 2);
    }
    EXPECT(taken == 2 && given_back == 2);
}

TEST(test_views_take_nothing)
{
    float buf[6] = {0};
    const int shape[2] = {2, 3};
    start(-1);
    {
        Tensor view = Tensor::from_data(buf, 2, shape);
        const Mat m = view.to_mat();
        EXPECT(m.data == buf && view.reshape_2d(3, 2) == TINY_OK);
    }
    EXPECT(taken == 0 && given_back == 0);
}

TEST(test_failed_allocation_leaves_no_data)
{
    start(0);
    Tensor a(2, 3);
    EXPECT(a.data == nullptr && a.shape[1] == 3 && a.size == 6);
    a.fill(1);
    a.zero();
    EXPECT(a.clone().data == nullptr);
    start(1);
    Tensor b(4), c(b);
    EXPECT(b.data != nullptr && c.data == nullptr && c.size == 4);
    c = b;
    EXPECT(c.data == nullptr);
    start(-1);
    c = b;
    EXPECT(c.data != nullptr && c.size == 4);
}

TEST(test_failed_copy_onto_a_tensor_gives_its_memory_back)
{
    start(2);
    {
        Tensor a(2), b(3);
        a = b;
        EXPECT(a.data == nullptr && a.size == 3);
    }
    EXPECT(taken == 2 && given_back == 2);
    refuse_after = -1;
}

TEST(test_macros_of_the_configuration_are_there)
{
    void *p = TINY_AI_MALLOC_PSRAM(16);
    EXPECT(p != nullptr);
    std::free(p);
    EXPECT(TINY_AI_TRAINING_ENABLED == 1 && TINY_AI_QUANT_INT8 == 1 && TINY_AI_QUANT_INT16 == 1);
    EXPECT(MCU_PLATFORM_SELECTED == MCU_PLATFORM_GENERIC && TINY_MATH_MIN_DENOMINATOR == 1e-6f);
    EXPECT(TINY_ERR_AI_ALLOC_FAILED == 0x90003 && TINY_ERR_AI_NO_CACHE == 0x9000a && TINY_OK == 0);
    EXPECT(TINY_FAIL == -1 && TINY_ERR_NO_MEM == 0x101 && TINY_ERR_MATH_NULL_POINTER == 0x70007);
}
