/* test_scope.c - releasing many, at the end of a block and of a scope; replacing; jumping and ignoring. */
#include "core/tensor_int.h"
#include "test.h"

#ifndef TSR_NO_THREADS
#include <pthread.h>
#endif

static int64_t live(void)
{
    tsr_memory_stats stats;
    tsr_memory_get_stats(&stats);
    return stats.live_tensors;
}

static tsr_tensor *make(int64_t n)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(n)));
    return t;
}

/* Many, and blocks ------------------------------------------------------------------ */

TEST(test_release_all_takes_any_number_and_nulls_them)
{
    tsr_tensor *a = make(2), *b = NULL, *c = make(300);
    tsr_release_all(&a);
    EXPECT(!a);
    a = make(5);
    tsr_release_all(&a, &b, NULL, &c);
    EXPECT(!a && !b && !c);
    tsr_release_each(0, NULL);
    tsr_release_each(3, NULL);
    tsr_release_each(-1, (tsr_tensor **[]){ &a });
}

#ifdef TSR_AUTO
static int64_t leave_early(int how)
{
    for (int i = 0; i < 3; i++) {
        TSR_AUTO tsr_tensor *a = make(2);
        TSR_AUTO tsr_tensor *b = NULL;
        if (how == 1) break;
        EXPECT_OK(tsr_view(&b, a, TSR_SHAPE(1, 2)));
        if (how == 2) return tsr_numel(b);
    }
    return 0;
}

static int64_t leave_scope(bool early)
{
    TSR_SCOPE(scope);
    const tsr_tensor *a = make(7);
    if (early) return tsr_numel(a);
    make(8);
    return 0;
}

TEST(test_auto_releases_however_the_block_is_left)
{
    for (int how = 0; how < 3; how++) EXPECT(leave_early(how) == (how == 2 ? 2 : 0));
    EXPECT(leave_scope(true) == 7 && leave_scope(false) == 0);
}
#endif

/* As main would: 1 after a failure, whose sentence is on standard error. */
static int run_to(int step)
{
    tsr_tensor *t = NULL;
    TSR_MUST(step > 0 ? TSR_OK : tsr_ones(&t, TSR_F32, 1, NULL));
    return 2;
}

TEST(test_must_leaves_with_1)
{
    EXPECT(run_to(0) == 1 && run_to(1) == 2);
}

/* Scopes ----------------------------------------------------------------------------- */

TEST(test_scope_releases_what_was_made_within)
{
    tsr_tensor *before = make(3), *given = make(6), *a, *b = NULL, *c = NULL;
    const int64_t tensors = live();
    tsr_scope scope;
    tsr_scope_begin(&scope);
    a = make(6);
    EXPECT_OK(tsr_view(&b, a, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_sum(&c, b, TSR_AXES(0), false));
    EXPECT_OK(tsr_add(&given, a, a));
    EXPECT(live() == tensors + 3);
    tsr_release(&a);  /* by hand too */
    EXPECT(live() == tensors + 2);
    tsr_scope_end(&scope);
    EXPECT(live() == tensors && tsr_numel(before) == 3 && TSR_AT(float, given, 5) == 2);
    tsr_scope_end(&scope);
    tsr_release_all(&before, &given);
}

TEST(test_scope_keeps_what_is_kept_for_the_one_around)
{
    const int64_t tensors = live();
    tsr_scope outer, inner;
    tsr_tensor *a, *b, *free_one;
    tsr_scope_begin(&outer);
    a = make(2);
    tsr_scope_begin(&inner);
    b = tsr_scope_keep(make(3));
    free_one = tsr_scope_keep(make(4));
    EXPECT(tsr_scope_keep(a) == a);  /* of the outer scope: stays there */
    make(5);
    tsr_scope_end(&inner);
    EXPECT(live() == tensors + 3 && tsr_numel(b) == 3);
    EXPECT(tsr_scope_keep(free_one) == free_one);
    tsr_scope_end(&outer);
    EXPECT(live() == tensors + 1 && tsr_numel(free_one) == 4);
    EXPECT(tsr_scope_keep(free_one) == free_one && tsr_scope_keep(NULL) == NULL);
    tsr_release(&free_one);
}

TEST(test_scope_end_closes_those_inside)
{
    const int64_t tensors = live();
    tsr_scope outer, inner, other;
    tsr_scope_begin(&outer);
    make(1);
    tsr_scope_begin(&inner);
    make(2);
    other = inner;
    tsr_scope_end(&other);  /* never begun */
    tsr_scope_end(NULL);
    tsr_scope_begin(NULL);
    EXPECT(live() == tensors + 2);
    tsr_scope_end(&outer);
    EXPECT(live() == tensors);
    tsr_scope_end(&inner);
    tsr_tensor *t = make(2);
    EXPECT(live() == tensors + 1);
    tsr_release(&t);
}

TEST(test_scope_leaves_other_owners_theirs)
{
    tsr_scope scope;
    tsr_tensor *a, *mine, *v = NULL;
    tsr_scope_begin(&scope);
    a = make(4);
    mine = tsr_retain(a);
    tsr_scope_end(&scope);
    EXPECT(tsr_numel(mine) == 4 && tsr_scope_keep(mine) == mine);
    EXPECT_OK(tsr_slice(&v, mine, 0, 1, 3, 1));
    tsr_release_all(&mine, &v);
}

TEST(test_scope_follows_handles_that_are_rebound)
{
    tsr_tensor *outside = make(6), *shared = tsr_retain(outside), *y = make(6);
    tsr_scope scope;
    tsr_scope_begin(&scope);
    EXPECT_OK(tsr_view(&outside, outside, TSR_SHAPE(2, 3)));  /* a new header: `shared` holds the old one */
    EXPECT_OK(TSR_REPLACE(&y, tsr_sum, outside, TSR_AXES(0), false));
    EXPECT_OK(TSR_REPLACE(&y, tsr_add, y, y));
    tsr_scope_end(&scope);
    EXPECT(outside->ndim == 2 && outside->shape[1] == 3 && y->shape[0] == 3 && TSR_AT(float, y, 2) == 4);
    tsr_release_all(&outside, &shared, &y);
}

/* The reference that a scope releases is the handle's, and goes with it. */
TEST(test_rebinding_leaves_another_owner_its_tensor)
{
    tsr_scope outer, inner;
    tsr_scope_begin(&outer);
    tsr_tensor *a = make(6), *first = tsr_retain(a), *second, *sum = NULL;
    tsr_scope_begin(&inner);
    EXPECT_OK(tsr_view(&a, a, TSR_SHAPE(2, 3)));  /* belongs to the outer scope, as the one before */
    tsr_scope_end(&inner);
    EXPECT(a->shape[1] == 3 && TSR_AT(float, a, 1, 2) == 1);
    second = tsr_retain(a);
    EXPECT_OK(tsr_view(&a, a, TSR_SHAPE(3, 2)));
    tsr_scope_end(&outer);
    EXPECT(first->shape[0] == 6 && TSR_AT(float, first, 5) == 1 && second->shape[1] == 3);
    EXPECT_OK(tsr_sum(&sum, first, 0, NULL, false));
    EXPECT(*(float *)sum->data == 6);
    tsr_release_all(&first, &second, &sum);
}

TEST(test_a_new_tensor_in_the_handle_of_one_that_is_shared_takes_its_scope)
{
    tsr_scope outer, inner;
    tsr_scope_begin(&outer);
    tsr_tensor *a = make(6), *first = tsr_retain(a);
    tsr_scope_begin(&inner);
    EXPECT_OK(tsri_make_packed(&a, "it", TSR_F32, TSR_SHAPE(2)));
    tsr_scope_end(&inner);
    EXPECT(tsr_numel(a) == 2 && tsr_numel(first) == 6);
    tsr_scope_end(&outer);
    EXPECT(tsr_numel(first) == 6 && TSR_AT(float, first, 5) == 1);
    tsr_release(&first);
}

TEST(test_grids_follow_the_scopes_of_their_handles)
{
    tsr_tensor place, *x = make(2), *y = tsr_place_none(&place);
    tsr_tensor *grid[2] = { make(1), y };
    tsr_scope scope;
    tsr_scope_begin(&scope);
    EXPECT_OK(tsr_meshgrid(grid, 2, (const tsr_tensor *const[]){ x, x }, TSR_MESH_IJ));
    tsr_scope_end(&scope);
    EXPECT(grid[1] == &place && grid[1]->ndim == 2);
    EXPECT(grid[0]->ndim == 2 && TSR_AT(float, grid[0], 1, 1) == 1);
    tsr_release_all(&x, &grid[0], &grid[1]);
}

TEST(test_scope_has_nothing_to_do_with_placed_tensors)
{
    tsr_scope scope;
    tsr_tensor place, *p = tsr_place_none(&place);
    tsr_scope_begin(&scope);
    EXPECT_OK(tsr_ones(&p, TSR_F32, TSR_SHAPE(3)));
    EXPECT(tsr_scope_keep(p) == p);
    tsr_scope_end(&scope);
    EXPECT(tsr_numel(p) == 3);
    tsr_release(&p);
}

TEST(test_scope_lets_exported_memory_live)
{
    tsr_scope scope;
    tsr_arrow_array array;
    tsr_arrow_schema schema;
    tsr_dl_managed_versioned *managed = NULL;
    tsr_scope_begin(&scope);
    tsr_tensor *t = make(5);
    EXPECT_OK(tsr_to_arrow(&array, &schema, t));
    EXPECT_OK(tsr_to_dlpack(&managed, t, 0));
    tsr_scope_end(&scope);
    EXPECT(((const float *)array.buffers[1])[4] == 1);
    EXPECT(((const float *)managed->dl_tensor.data)[4] == 1);
    array.release(&array);
    schema.release(&schema);
    managed->deleter(managed);
}

static bool refuse(void *context, size_t bytes)
{
    (void)bytes;
    return --*(int *)context >= 0;
}

/* Every allocation in turn fails, and the scope cleans up. */
static tsr_status three_steps(tsr_tensor **out, const tsr_tensor *x)
{
    tsr_tensor *a = NULL, *b = NULL;
    tsr_status s;
    tsr_scope scope;
    tsr_scope_begin(&scope);
    TSR_GO(tsr_transpose(&a, x, 0, 1));
    TSR_GO(tsr_matmul(&b, x, a));
    TSR_GO(TSR_REPLACE(&b, tsr_sum, b, TSR_AXES(0), false));
    TSR_GO(tsr_mul(out, b, b));
    tsr_scope_keep(*out);
done:
    tsr_scope_end(&scope);
    return s;
}

TEST(test_scope_cleans_up_whatever_fails)
{
    tsr_tensor *x = NULL, *y = NULL;
    EXPECT_OK(tsr_ones(&x, TSR_F32, TSR_SHAPE(20, 30)));
    const int64_t tensors = live();
    int allowed = 0, n = 0;
    for (tsr_status s = TSR_ENOMEM; s != TSR_OK && n < 100; n++) {
        allowed = n;
        tsr_set_alloc_hook(refuse, &allowed);
        s = three_steps(&y, x);
        tsr_set_alloc_hook(NULL, NULL);
        EXPECT(s == TSR_OK || (s == TSR_ENOMEM && !y && live() == tensors));
    }
    EXPECT(n > 3 && tsr_numel(y) == 20 && live() == tensors + 1);
    EXPECT(TSR_AT(float, y, 19) == 600.0f * 600.0f);
    tsr_release_all(&x, &y);
}

#ifndef TSR_NO_THREADS
static void *in_a_thread(void *context)
{
    for (int i = 0; i < 200; i++) {
        tsr_scope scope;
        tsr_tensor *a, *b = NULL;
        tsr_scope_begin(&scope);
        a = make(10 + i);
        EXPECT_OK(tsr_add(&b, a, context));
        if (i == 199) context = tsr_scope_keep(b);
        tsr_scope_end(&scope);
    }
    return context;
}

TEST(test_scopes_of_threads_do_not_meet)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    void *kept[THREADS] = { NULL };
    tsr_scope scope;
    tsr_scope_begin(&scope);
    tsr_tensor *one = make(1);
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_create(&thread[i], NULL, in_a_thread, one) == 0);
    for (int i = 0; i < 200; i++) make(3);
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_join(thread[i], &kept[i]) == 0);
    tsr_scope_end(&scope);
    for (int i = 0; i < THREADS; i++) {
        tsr_tensor *t = kept[i];
        EXPECT(tsr_numel(t) == 209 && TSR_AT(float, t, 208) == 2);
        tsr_release(&t);
    }
}
#endif

/* Replacing, jumping, ignoring ------------------------------------------------------------ */

TEST(test_replace_takes_any_shape_and_dtype)
{
    tsr_tensor *y = NULL, place, *p = tsr_place_none(&place), *shared;
    EXPECT_OK(TSR_REPLACE(&y, tsr_ones, TSR_F32, TSR_SHAPE(4, 6)));
    EXPECT_OK(TSR_REPLACE(&y, tsr_sum, y, TSR_AXES(1), false));
    EXPECT(y->ndim == 1 && y->shape[0] == 4 && TSR_AT(float, y, 3) == 6);
    EXPECT_OK(TSR_REPLACE(&y, tsr_cast, y, TSR_I64));
    EXPECT(y->dtype == TSR_I64 && TSR_AT(int64_t, y, 3) == 6);
    shared = tsr_retain(y);
    EXPECT_OK(TSR_REPLACE(&y, tsr_view, y, TSR_SHAPE(2, 2)));
    EXPECT(y != shared && shared->ndim == 1 && y->ndim == 2 && tsr_is_view(y) && y->data == shared->data);
    EXPECT_OK(tsr_zeros(&p, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(TSR_REPLACE(&p, tsr_add, y, y));
    EXPECT(p == &place && p->dtype == TSR_I64 && TSR_AT(int64_t, p, 1, 1) == 12);
    tsr_release_all(&y, &shared, &p);
}

TEST(test_replace_leaves_the_handle_alone_when_it_fails)
{
    tsr_tensor *y = make(3), *before = y;
    EXPECT_FAILS(TSR_REPLACE(&y, tsr_view, y, TSR_SHAPE(2)), TSR_ESHAPE, "view");
    EXPECT(y == before && tsr_numel(y) == 3);
    EXPECT_FAILS(TSR_REPLACE(NULL, tsr_add, y, y), TSR_ENULL, "replace: out is NULL");
    EXPECT_FAILS(tsr_replace(&y, TSR_OK), TSR_EINVAL, "replace: the call made no result");
    EXPECT_OK(tsr_clone(tsr_replacement(), y));  /* nobody moves it */
    EXPECT(*tsr_replacement() == NULL && y == before);
    tsr_release(&y);
}

static tsr_status jump(tsr_status first, int *steps)
{
    tsr_status s;
    TSR_GO(first);
    ++*steps;
    TSR_GO(TSR_OK);
    ++*steps;
done:
    return s;
}

TEST(test_go_jumps_at_a_failure_and_ignore_goes_on)
{
    int steps = 0;
    EXPECT(jump(TSR_OK, &steps) == TSR_OK && steps == 2);
    EXPECT(jump(TSR_ESHAPE, &steps) == TSR_ESHAPE && steps == 2);
    TSR_IGNORE(tsr_alloc(NULL));
    EXPECT(tsr_last_status() == TSR_ENULL);
}
