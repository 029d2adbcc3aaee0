/* Every check of opcheck/ while memory is refused: an allocation of a trial fails, chosen among all that it
 * makes. The call then gives TSR_ENOMEM, or its result is right all the same; nothing leaks and no operand
 * changes. Ops are tried with every dtype, with random strides, with results given and made, in one go and in
 * parts. test_oom_ops.c refuses each allocation in turn, of one call of each op. */
#include "test.h"

#include "core/threads_int.h"
#include "ops/dispatch.h"
#include "opcheck/trial.h"

/* How the checks are run, and how many allocations of a trial are refused, one at a time. */
typedef struct setting { int passes, threads, tried; } setting;

static struct {
    long asked, refused; /* allocations so far; the one that is refused, or 0 */
} memory;

static bool ask(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return __atomic_add_fetch(&memory.asked, 1, __ATOMIC_RELAXED) != memory.refused;
}

static const char *excuse(const trial *t, tsr_status status)
{
    (void)t;
    return status == TSR_ENOMEM && memory.refused && memory.asked >= memory.refused ? "refused" : NULL;
}

/* Returns how many allocations there were. */
static long run_refusing(const check *c, uint64_t random, long refused)
{
    static const trial_settings how = { .excuse = excuse };
    trial t = { .check = c, .how = &how, .random = random };
    memory.asked = 0;
    memory.refused = refused;
    tsr_set_alloc_hook(ask, NULL);
    run_trial(&t);
    tsr_set_alloc_hook(NULL, NULL);
    end_trial(&t);
    EXPECT_MSG(!t.failed, "%s, allocation %ld refused: %s", c->name, refused, t.why);
    return memory.asked;
}

/* All allocations if they are few, else some from the first to the last. */
static void refuse_some(const setting *s, const check *c, uint64_t random)
{
    const long all = run_refusing(c, random, 0), step = (all + s->tried - 1) / s->tried;
    for (long n = all ? 1 + (long)(random % (uint64_t)step) : 1; n <= all; n += step)
        (void)run_refusing(c, random, n);
}

/* Such a check wants another status than TSR_ENOMEM. */
static bool wants_a_failure(const check *c)
{
    return !strcmp(c->family, "errors") || !strncmp(c->name, "index outside", 13);
}

static void refuse_everywhere(const setting *s)
{
    check_list list = { .item = NULL };
    const int before = tsr_threads();
    list_everything(&list);
    EXPECT(!list.full && list.count > 0);
    EXPECT_OK(tsr_set_threads(s->threads));
    tsri_split_finely(s->threads > 1);
    for (int i = 0; i < s->passes * list.count; i++) {
        const check *c = &list.item[i % list.count];
        if (wants_a_failure(c) || !strcmp(c->family, "threads")) continue;
        refuse_some(s, c, trial_random(test_state.seed, c, i / list.count));
    }
    tsri_split_finely(false);
    EXPECT_OK(tsr_set_threads(before));
    free(list.item);
}

TEST(test_refused_memory_is_told) { refuse_everywhere(&(setting){ .passes = 2, .threads = 1, .tried = 12 }); }

TEST(test_refused_memory_is_told_by_several_threads)
{
    refuse_everywhere(&(setting){ .passes = 1, .threads = 3, .tried = 12 });
}

TEST(test_refused_memory_is_told_in_parts)
{
    tsri_prefer_parts(true);
    refuse_everywhere(&(setting){ .passes = 4, .threads = 1, .tried = 60 });
    tsri_prefer_parts(false);
}
