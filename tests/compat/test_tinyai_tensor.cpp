/* test_tinyai_tensor.cpp - tiny::Tensor: the document's examples, and every function with good and bad
 * input. */
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <unistd.h>

#include "test.h"
#include "tiny_tensor.hpp"

using namespace tiny;

static bool shape_is(const Tensor &t, int ndim, int a, int b, int c, int d)
{
    return t.ndim == ndim && t.shape[0] == a && t.shape[1] == b && t.shape[2] == c && t.shape[3] == d;
}

static bool all_are(const Tensor &t, float value)
{
    for (int i = 0; i < t.size; i++)
        if (t.data[i] != value) return false;
    return t.data != nullptr;
}

static void count_up(Tensor &t)
{
    for (int i = 0; i < t.size; i++) t.data[i] = static_cast<float>(i);
}

/* What print() writes to standard output. */
static std::string printed(const Tensor &t, const char *name)
{
    char text[4096];
    int ends[2];
    fflush(stdout);
    if (pipe(ends)) return "";
    const int old = dup(1);
    dup2(ends[1], 1);
    t.print(name);
    fflush(stdout);
    dup2(old, 1);
    close(old);
    close(ends[1]);
    const ssize_t n = read(ends[0], text, sizeof text);
    close(ends[0]);
    return std::string(text, n > 0 ? static_cast<size_t>(n) : 0);
}

/* The document's examples -------------------------------------------------------- */

/* x.shape() and x.size(), as the document has them, compile nowhere: both are fields. */
TEST(test_document_access_example_runs)
{
    Tensor x({32, 3, 64});
    EXPECT(shape_is(x, 3, 32, 3, 64, 1));
    EXPECT(x.size == 32 * 3 * 64);
    x.data[1 * 64 + 2] = 5.0f;
    EXPECT(x(0, 1, 2) == 5.0f);
}

TEST(test_document_constructors_make_zeros_of_each_rank)
{
    const int N = 2, F = 3, C = 4, L = 5, H = 6, W = 7;
    Tensor t1(N);
    Tensor t2(N, F);
    Tensor t3(N, C, L);
    Tensor t4(N, C, H, W);
    Tensor t0;
    EXPECT(shape_is(t1, 1, 2, 1, 1, 1) && t1.size == 2 && all_are(t1, 0));
    EXPECT(shape_is(t2, 2, 2, 3, 1, 1) && t2.size == 6 && all_are(t2, 0));
    EXPECT(shape_is(t3, 3, 2, 4, 5, 1) && t3.size == 40 && all_are(t3, 0));
    EXPECT(shape_is(t4, 4, 2, 4, 6, 7) && t4.size == 336 && all_are(t4, 0));
    EXPECT(t1.owns_data && t2.owns_data && t3.owns_data && t4.owns_data);
    EXPECT(t0.ndim == 0 && t0.size == 0 && t0.data == nullptr && !t0.owns_data);
}

TEST(test_document_named_constructors_run)
{
    float buf[6] = {1, 2, 3, 4, 5, 6};
    const int shape[2] = {2, 3};
    EXPECT(shape_is(Tensor::zeros(2), 1, 2, 1, 1, 1));
    EXPECT(shape_is(Tensor::zeros(2, 3), 2, 2, 3, 1, 1));
    EXPECT(shape_is(Tensor::zeros(2, 3, 4), 3, 2, 3, 4, 1));
    EXPECT(shape_is(Tensor::zeros(2, 3, 4, 5), 4, 2, 3, 4, 5) && all_are(Tensor::zeros(2, 3, 4, 5), 0));
    Tensor view = Tensor::from_data(buf, 2, shape);
    EXPECT(view.data == buf && !view.owns_data && shape_is(view, 2, 2, 3, 1, 1) && view.size == 6);
    Tensor like = Tensor::zeros_like(view);
    EXPECT(like.same_shape(view) && like.owns_data && like.data != buf && all_are(like, 0));
}

TEST(test_document_loop_over_four_dims_runs)
{
    const int B = 2, C = 3, H = 4, W = 5;
    const float some_value = 1.5f;
    Tensor x(B, C, H, W);
    for (int b = 0; b < B; b++)
        for (int c = 0; c < C; c++)
            for (int h = 0; h < H; h++)
                for (int w = 0; w < W; w++) x.at(b, c, h, w) = some_value;
    EXPECT(all_are(x, 1.5f));
}

TEST(test_document_matrix_example_shares_memory)
{
    const int B = 2, F = 3;
    Tensor x(B, F);
    Mat xm = x.to_mat();
    xm(1, 2) = 7.0f;
    EXPECT(xm.data == x.data && xm.row == 2 && xm.col == 3 && xm.step == 3 && xm.ext_buff);
    EXPECT(x.at(1, 2) == 7.0f);
}

TEST(test_document_reshapes_of_the_attention_example_run)
{
    Tensor x(4, 12);
    count_up(x);
    EXPECT(x.reshape_3d(4, 3, 4) == TINY_OK && x.at(1, 2, 3) == 23.0f);
    EXPECT(x.reshape_2d(4, 12) == TINY_OK && x.at(1, 11) == 23.0f);
}

TEST(test_document_says_tensors_live_in_vectors)
{
    std::vector<Tensor> layers;
    for (int i = 0; i < 20; i++) {
        Tensor t(i + 1);
        t.fill(static_cast<float>(i));
        layers.push_back(t);
    }
    for (int i = 0; i < 20; i++) EXPECT(layers[i].size == i + 1 && all_are(layers[i], static_cast<float>(i)));
}

/* Elements and dims ---------------------------------------------------------------- */

TEST(test_at_is_row_major_in_every_rank)
{
    Tensor t(2, 3, 4, 5);
    count_up(t);
    const Tensor &c = t;
    EXPECT(t.at(1, 2, 3, 4) == ((1 * 3 + 2) * 4 + 3) * 5 + 4 && &c.at(1, 2, 3, 4) == &t.at(1, 2, 3, 4));
    EXPECT(t(1, 2, 3, 4) == t.at(1, 2, 3, 4) && c(0, 0, 0, 1) == 1.0f);
    EXPECT(t.reshape_3d(6, 4, 5) == TINY_OK && c.at(5, 3, 4) == 119.0f && t.at(1, 0, 0) == 20.0f);
    EXPECT(t.reshape_2d(24, 5) == TINY_OK && c.at(2, 3) == 13.0f && t.at(2, 3) == 13.0f);
    EXPECT(c.at(119) == 119.0f && t.at(7) == 7.0f);
}

TEST(test_dims_have_names_by_rank)
{
    const Tensor one(7), two(2, 3), three(2, 3, 4), four(2, 3, 4, 5), none;
    EXPECT(one.batch() == 1 && one.rows() == 7 && one.cols() == 7 && one.channels() == 1);
    EXPECT(two.batch() == 1 && two.rows() == 2 && two.cols() == 3 && two.channels() == 1);
    EXPECT(three.batch() == 2 && three.rows() == 3 && three.cols() == 4 && three.channels() == 1);
    EXPECT(four.batch() == 2 && four.rows() == 4 && four.cols() == 5 && four.channels() == 3);
    EXPECT(none.batch() == 1 && none.rows() == 0 && none.cols() == 0 && none.channels() == 1);
}

/* Shapes that are none --------------------------------------------------------------- */

TEST(test_tensors_of_bad_shapes_have_no_data)
{
    const Tensor negative(-2, 3), zero(0), huge(70000, 70000), four(40000, 40000, 40000, 40000);
    EXPECT(negative.data == nullptr && negative.size == 0 && !negative.owns_data);
    EXPECT(zero.data == nullptr && zero.size == 0 && zero.ndim == 1 && zero.shape[0] == 0);
    EXPECT(huge.data == nullptr && huge.size == 0);
    EXPECT(four.data == nullptr && four.size == 0);
    const Tensor empty(0, 70000, 70000);
    EXPECT(empty.size == 0 && empty.data == nullptr);
}

TEST(test_calls_on_tensors_without_data_do_nothing)
{
    Tensor none, negative(-1), x(2);
    x.fill(3);
    none.zero();
    none.fill(1);
    none.copy_from(x);
    x.copy_from(none);
    negative.fill(2);
    EXPECT(all_are(x, 3) && none.clone().data == nullptr && Tensor::zeros_like(none).data == nullptr);
    EXPECT(none.to_mat().data == nullptr);
    x = none;
    EXPECT(x.data == nullptr && x.size == 0);
}

TEST(test_from_data_refuses_bad_shapes)
{
    float buf[4] = {0};
    const int good[4] = {1, 2, 1, 2}, negative[2] = {2, -1}, huge[3] = {70000, 70000, 2};
    EXPECT(Tensor::from_data(buf, 4, good).size == 4);
    EXPECT(Tensor::from_data(buf, 0, good).data == nullptr &&
           Tensor::from_data(buf, 5, good).data == nullptr);
    EXPECT(Tensor::from_data(buf, -1, good).ndim == 0 && Tensor::from_data(buf, 2, nullptr).data == nullptr);
    EXPECT(Tensor::from_data(buf, 2, negative).data == nullptr && Tensor::from_data(buf, 3, huge).size == 0);
    EXPECT(Tensor::from_data(nullptr, 2, good).data == nullptr &&
           Tensor::from_data(nullptr, 2, good).size == 2);
}

TEST(test_reshape_refuses_what_does_not_fit)
{
    Tensor t(2, 6);
    const int wrong[2] = {5, 2}, negative[2] = {-2, -6}, five[5] = {1, 1, 1, 2, 6}, good[4] = {2, 1, 3, 2};
    const int wraps[4] = {65536, 65536, 1, 12};
    EXPECT(TINY_ERR_AI_INVALID_SHAPE == 0x90001);
    EXPECT(t.reshape(2, wrong) == TINY_ERR_AI_INVALID_SHAPE);
    EXPECT(t.reshape(2, negative) == TINY_ERR_AI_INVALID_SHAPE);
    EXPECT(t.reshape(5, five) == TINY_ERR_AI_INVALID_SHAPE);
    EXPECT(t.reshape(0, good) == TINY_ERR_AI_INVALID_SHAPE);
    EXPECT(t.reshape(2, nullptr) == TINY_ERR_AI_INVALID_SHAPE);
    EXPECT(t.reshape(4, wraps) == TINY_ERR_AI_INVALID_SHAPE);
    EXPECT(t.reshape_2d(3, 5) == 0x90001 && t.reshape_3d(2, 2, 2) == 0x90001);
    EXPECT(shape_is(t, 2, 2, 6, 1, 1));
    const float *data = t.data;
    EXPECT(t.reshape(4, good) == TINY_OK && shape_is(t, 4, 2, 1, 3, 2) && t.data == data);
}

/* Copies ------------------------------------------------------------------------------ */

TEST(test_copies_are_deep)
{
    Tensor a(2, 3);
    count_up(a);
    Tensor b(a), c = a.clone(), d;
    d = a;
    a.fill(-1);
    EXPECT(b.at(1, 2) == 5.0f && c.at(1, 2) == 5.0f && d.at(1, 2) == 5.0f);
    EXPECT(b.owns_data && c.owns_data && d.owns_data && b.same_shape(a) && d.same_shape(a));
}

TEST(test_copying_a_view_gives_a_tensor_of_its_own)
{
    float buf[4] = {1, 2, 3, 4};
    const int shape[1] = {4};
    const Tensor view = Tensor::from_data(buf, 1, shape);
    Tensor copy(view);
    buf[0] = 9;
    EXPECT(copy.owns_data && copy.data != buf && copy.at(0) == 1.0f && view.at(0) == 9.0f);
}

TEST(test_assigning_to_a_view_leaves_the_owner_alone)
{
    float buf[4] = {1, 2, 3, 4};
    const int shape[1] = {4};
    Tensor view = Tensor::from_data(buf, 1, shape), same(4), other(2);
    same.fill(7);
    other.fill(8);
    view = same;
    EXPECT(buf[0] == 1.0f && buf[3] == 4.0f && view.owns_data && view.data != buf && all_are(view, 7));
    view = Tensor::from_data(buf, 1, shape);
    EXPECT(view.data == buf && !view.owns_data);
    view = other;
    EXPECT(buf[0] == 1.0f && view.size == 2 && all_are(view, 8));
}

TEST(test_assignment_reuses_memory_of_the_same_size)
{
    Tensor a(2, 3), b(3, 2);
    count_up(b);
    const float *data = a.data;
    a = b;
    EXPECT(a.data == data && a.same_shape(b) && a.at(2, 1) == 5.0f);
    Tensor &self = a;
    a = self;
    EXPECT(a.data == data && a.at(2, 1) == 5.0f);
    a = Tensor(7);
    EXPECT(a.size == 7 && a.owns_data);
}

TEST(test_a_tensor_may_be_assigned_a_view_of_itself)
{
    Tensor a(2, 3);
    const int half[1] = {3}, transposed[2] = {3, 2};
    count_up(a);
    a = Tensor::from_data(a.data, 2, transposed);
    EXPECT(a.owns_data && a.shape[0] == 3 && a.at(2, 1) == 5.0f);
    const Tensor view = Tensor::from_data(a.data + 3, 1, half);
    a = view;
    EXPECT(a.size == 3 && a.at(0) == 3.0f && a.at(2) == 5.0f && a.owns_data);
}

TEST(test_moving_takes_the_data_along)
{
    Tensor a(2, 3);
    count_up(a);
    const float *data = a.data;
    Tensor b(std::move(a));
    EXPECT(b.data == data && b.owns_data && b.at(1, 2) == 5.0f);
    EXPECT(a.data == nullptr && !a.owns_data && a.size == 0);
    Tensor c(5);
    c = std::move(b);
    EXPECT(c.data == data && c.owns_data && b.data == nullptr && shape_is(c, 2, 2, 3, 1, 1));
    a = c;
    EXPECT(a.same_shape(c) && a.at(1, 2) == 5.0f);
    EXPECT(std::is_nothrow_move_constructible<Tensor>::value &&
           std::is_nothrow_move_assignable<Tensor>::value);
}

TEST(test_copy_from_needs_as_many_elements)
{
    Tensor a(2, 3), b(3, 2), c(5);
    count_up(b);
    c.fill(1);
    a.copy_from(b);
    EXPECT(a.at(1, 2) == 5.0f && shape_is(a, 2, 2, 3, 1, 1));
    a.copy_from(c);
    EXPECT(a.at(1, 2) == 5.0f && a.at(0, 0) == 0.0f);
    a.copy_from(a);
    EXPECT(a.at(1, 2) == 5.0f);
}

TEST(test_fill_and_zero_reach_every_element)
{
    Tensor t(3, 5, 7);
    t.fill(2.5f);
    EXPECT(all_are(t, 2.5f));
    t.zero();
    EXPECT(all_are(t, 0.0f));
}

TEST(test_same_shape_compares_dims)
{
    EXPECT(Tensor(2, 3).same_shape(Tensor(2, 3)));
    EXPECT(!Tensor(2, 3).same_shape(Tensor(3, 2)));
    EXPECT(!Tensor(6).same_shape(Tensor(6, 1)));
    EXPECT(Tensor().same_shape(Tensor()));
}

TEST(test_to_mat_of_more_dims_is_the_first_matrix)
{
    Tensor t(2, 3, 4), v(5);
    count_up(t);
    const Mat m = t.to_mat();
    EXPECT(m.row == 3 && m.col == 4 && m.data == t.data && m(2, 3) == 11.0f);
    const Mat column = v.to_mat();
    EXPECT(column.row == 5 && column.col == 5 && column.data == v.data);
}

/* Text --------------------------------------------------------------------------------- */

TEST(test_print_shows_shape_and_at_most_32_elements)
{
    Tensor t(2, 2);
    count_up(t);
    EXPECT(printed(t, "w") == "Tensor 'w'  ndim=2  shape=[2,2]  size=4\n  [0] 0.000000\n  [1] 1.000000\n"
                              "  [2] 2.000000\n  [3] 3.000000\n");
    const std::string many = printed(Tensor(40), "");
    EXPECT(many.find("Tensor ''  ndim=1  shape=[40]  size=40\n") == 0);
    EXPECT(many.find("  [31] 0.000000\n") != std::string::npos && many.find("[32]") == std::string::npos);
    EXPECT(many.find("  ... (8 more)\n") != std::string::npos);
    EXPECT(printed(Tensor(), nullptr) == "Tensor ''  ndim=0  shape=[]  size=0\n  <null data>\n");
}

TEST(test_fields_lie_as_programs_expect)
{
    EXPECT((std::is_same<decltype(Tensor::shape), int[4]>::value));
    EXPECT((std::is_same<decltype(Tensor::data), float *>::value));
    EXPECT((std::is_same<decltype(Tensor::size), int>::value &&
            std::is_same<decltype(Tensor::ndim), int>::value));
    EXPECT((!std::is_convertible<int, Tensor>::value));
}
