/* streams.c - order of work, events, tensors that die early, graphs. */
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { STREAMS = 8 };

/* What a check of streams holds; released whatever happens. */
typedef struct kit {
    tsr_stream *stream[STREAMS];
    tsr_event *event[STREAMS];
    tsr_tensor *tensor[STREAMS];
    tsr_graph *graph;
} kit;

static void free_kit(trial *t, kit *k)
{
    if (tsr_stream_use_default(session_of(t)->device) != TSR_OK)
        break_contract(t, "there is no default stream: %s", tsr_last_error());
    tsr_graph_destroy(&k->graph);
    for (int i = 0; i < STREAMS; i++) {
        tsr_release(&k->tensor[i]);
        tsr_event_destroy(&k->event[i]);
        tsr_stream_destroy(&k->stream[i]);
    }
}

static tsr_status open_streams(kit *k, tsr_device device, int n)
{
    for (int i = 0; i < n; i++) TSR_TRY(tsr_stream_create(&k->stream[i], device));
    for (int i = 0; i < n; i++) TSR_TRY(tsr_event_create(&k->event[i], device));
    return TSR_OK;
}

static tsr_status make_full(tsr_tensor **out, tsr_device device, int64_t n, double number)
{
    TSR_TRY(tsr_device_set_default(device));
    const tsr_status s = tsr_full(out, TSR_F32, 1, &n, tsr_scalar_f64(number));
    TSR_TRY(tsr_device_set_default(TSR_CPU));
    return s;
}

/* All elements are this number; reads on the current stream. */
static tsr_status is_full_of(bool *out, const tsr_tensor *x, double number)
{
    tsr_tensor *low = NULL, *high = NULL;
    double a = 0, b = 0;
    tsr_status s = tsr_min(&low, x, 0, NULL, false);
    if (s == TSR_OK) s = tsr_max(&high, x, 0, NULL, false);
    if (s == TSR_OK) s = tsr_item_f64(&a, low);
    if (s == TSR_OK) s = tsr_item_f64(&b, high);
    *out = a == number && b == number;
    tsr_release_all(&low, &high);
    return s;
}

static void expect_full(trial *t, const tsr_tensor *x, double number, const char *what)
{
    bool good = false;
    GO_ON(t);
    NEED(t, is_full_of(&good, x, number));
    MUST(t, good, "%s: not all elements are %g", what, number);
}

#define STEP(call) \
    do { \
        if (s == TSR_OK) s = (call); \
    } while (0)

/* Work of one stream is done in order. */
static void check_order(trial *t)
{
    kit k = { 0 };
    tsr_status s = open_streams(&k, session_of(t)->device, 1);
    STEP(tsr_stream_use(k.stream[0]));
    STEP(make_full(&k.tensor[0], session_of(t)->device, 20000, 1));
    for (int i = 0; i < 60; i++) {
        STEP(tsr_mul(&k.tensor[0], k.tensor[0], TSR_NUMBER(2)));
        STEP(tsr_sub(&k.tensor[0], k.tensor[0], TSR_NUMBER(1)));
    }
    if (s != TSR_OK)
        fail_call(t, "ops on a stream", s);
    else
        expect_full(t, k.tensor[0], 1, "in order");
    free_kit(t, &k);
}

/* What one stream makes, another reads behind an event, all around. */
static void check_waits(trial *t)
{
    kit k = { 0 };
    tsr_status s = open_streams(&k, session_of(t)->device, 3);
    STEP(tsr_stream_use(k.stream[0]));
    STEP(make_full(&k.tensor[0], session_of(t)->device, 30000, 0));
    for (int i = 0; i < 30; i++) {
        const int at = i % 3, next = (i + 1) % 3;
        STEP(tsr_stream_use(k.stream[at]));
        STEP(tsr_add(&k.tensor[0], k.tensor[0], TSR_NUMBER(1)));
        STEP(tsr_event_record(k.event[at], NULL));
        STEP(tsr_stream_wait(k.stream[next], k.event[at]));
    }
    STEP(tsr_stream_use(k.stream[0]));
    if (s != TSR_OK)
        fail_call(t, "streams that wait", s);
    else
        expect_full(t, k.tensor[0], 30, "handed around");
    free_kit(t, &k);
}

static void check_events(trial *t)
{
    kit k = { 0 };
    double seconds = -1;
    bool done = false, before = false;
    tsr_status s = open_streams(&k, session_of(t)->device, 2);
    STEP(tsr_event_done(&before, k.event[0]));
    STEP(tsr_event_record(k.event[0], k.stream[0]));
    STEP(tsr_stream_use(k.stream[0]));
    STEP(make_full(&k.tensor[0], session_of(t)->device, 100000, 2));
    STEP(tsr_add(&k.tensor[1], k.tensor[0], k.tensor[0]));
    STEP(tsr_event_record(k.event[1], k.stream[0]));
    STEP(tsr_event_sync(k.event[1]));
    STEP(tsr_event_done(&done, k.event[1]));
    STEP(tsr_event_elapsed(&seconds, k.event[0], k.event[1]));
    STEP(tsr_stream_sync(k.stream[0]));
    if (s != TSR_OK)
        fail_call(t, "events", s);
    else if (!before)
        break_contract(t, "an event that was never recorded is not done");
    else if (!done)
        break_contract(t, "an event that was waited for is not done");
    else if (!(seconds >= 0 && seconds < 100))
        break_contract(t, "%g seconds went by between two events", seconds);
    if (!t->failed) expect_full(t, k.tensor[1], 4, "behind the event");
    free_kit(t, &k);
}

/* Streams come and go, more than there can be at once. */
static void check_many(trial *t)
{
    tsr_stream *all[70] = { NULL };
    int n = 0;
    tsr_status s = TSR_OK;
    while (n < 70 && s == TSR_OK) {
        s = tsr_stream_create(&all[n], session_of(t)->device);
        if (s == TSR_OK) n++;
    }
    if (n < 16)
        break_contract(t, "only %d streams: %s", n, tsr_last_error());
    else if (s != TSR_ENOMEM)
        break_contract(t, "more streams than there can be gave %s", tsr_status_name(s));
    for (int i = 0; i < n; i++) tsr_stream_destroy(&all[i]);
    GO_ON(t);
    NEED(t, tsr_stream_create(&all[0], session_of(t)->device));
    tsr_stream_destroy(&all[0]);
}

/* Tensors die while the streams are behind; others get their memory, and must not meet them. */
static tsr_status grow_sum(kit *k, int i)
{
    for (int n = 1; n <= 25; n++) {
        tsr_tensor *some = NULL, *more = NULL;
        tsr_status s = tsr_full_like(&some, k->tensor[i], tsr_scalar_i64(n));
        STEP(tsr_add(&more, some, some));
        STEP(tsr_add(&k->tensor[i], k->tensor[i], more));
        tsr_release_all(&some, &more);
        TSR_TRY(s);
    }
    return TSR_OK;
}

static void check_deaths(trial *t)
{
    kit k = { 0 };
    tsr_status s = open_streams(&k, session_of(t)->device, 4);
    for (int i = 0; i < 4; i++) {
        STEP(tsr_stream_use(k.stream[i]));
        STEP(make_full(&k.tensor[i], session_of(t)->device, 30000 + i, i));
        STEP(grow_sum(&k, i));
    }
    if (s != TSR_OK) fail_call(t, "tensors that die", s);
    for (int i = 0; i < 4 && !t->failed; i++) {
        if (tsr_stream_use(k.stream[i]) != TSR_OK) break_contract(t, "tsr_stream_use: %s", tsr_last_error());
        expect_full(t, k.tensor[i], 650 + i, "a sum of tensors that died");
    }
    free_kit(t, &k);
}

/* A stream that dies with work on it. */
static void check_stream_dies(trial *t)
{
    kit k = { 0 };
    tsr_status s = open_streams(&k, session_of(t)->device, 1);
    STEP(tsr_stream_use(k.stream[0]));
    STEP(make_full(&k.tensor[0], session_of(t)->device, 50000, 3));
    for (int i = 0; i < 10; i++) STEP(tsr_add(&k.tensor[0], k.tensor[0], TSR_NUMBER(1)));
    tsr_stream_destroy(&k.stream[0]);
    if (s != TSR_OK)
        fail_call(t, "work on a stream that dies", s);
    else
        expect_full(t, k.tensor[0], 13, "after its stream died");
    free_kit(t, &k);
}

static tsr_status capture(kit *k)
{
    TSR_TRY(tsr_add(&k->tensor[1], k->tensor[0], k->tensor[0]));
    TSR_TRY(tsr_add(&k->tensor[0], k->tensor[0], k->tensor[1]));
    tsr_tensor *own = NULL; /* memory that the graph takes for itself */
    tsr_status s = tsr_mul(&own, k->tensor[1], TSR_NUMBER(0));
    STEP(tsr_add(&k->tensor[0], k->tensor[0], own));
    tsr_release(&own);
    return s;
}

static void check_graph(trial *t)
{
    kit k = { 0 };
    tsr_status s = open_streams(&k, session_of(t)->device, 1);
    STEP(tsr_stream_use(k.stream[0]));
    STEP(make_full(&k.tensor[0], session_of(t)->device, 9000, 1));
    STEP(make_full(&k.tensor[1], session_of(t)->device, 9000, 5));
    STEP(tsr_stream_sync(k.stream[0]));
    if (s == TSR_OK && (s = tsr_graph_begin(k.stream[0])) == TSR_EUNSUPPORTED) {
        skip_trial(t, "%s", tsr_last_error());
        free_kit(t, &k);
        return;
    }
    STEP(capture(&k));
    STEP(tsr_graph_end(&k.graph, k.stream[0]));
    STEP(tsr_stream_sync(k.stream[0]));
    if (s == TSR_OK) expect_full(t, k.tensor[0], 1, "before a graph is launched");
    for (int i = 0; i < 3; i++) STEP(tsr_graph_launch(k.graph, k.stream[0]));
    if (s != TSR_OK)
        fail_call(t, "a graph", s);
    else
        expect_full(t, k.tensor[0], 27, "three launches of a graph");
    free_kit(t, &k);
}

/* Ops of many families, whose results go to one tensor after the other. */
static tsr_status queue_ops(tsr_tensor **z, const tsr_tensor *x)
{
    const tsr_tensor *both[] = { x, x };
    tsr_tensor *transposed = NULL;
    tsr_status s = tsr_transpose(&transposed, x, 0, 1);
    STEP(tsr_add(&z[0], x, transposed));
    STEP(tsr_exp(&z[1], x));
    STEP(tsr_sum(&z[2], x, 1, (int[]){ 0 }, false));
    STEP(tsr_var(&z[3], x, 1, (int[]){ 1 }, false, 0));
    STEP(tsr_argmax(&z[4], x, 1, false));
    STEP(tsr_cumsum(&z[5], x, 0));
    STEP(tsr_sort(&z[6], x, 1, false));
    STEP(tsr_softmax(&z[7], x, 1));
    STEP(tsr_concat(&z[8], 2, both, 1));
    STEP(tsr_matmul(&z[9], x, x));
    STEP(tsr_clone(&z[10], transposed));
    STEP(tsr_cast(&z[11], x, TSR_F16));
    tsr_release(&transposed);
    return s;
}

/* Once for whatever is made at first, and again. */
static void check_queueing(trial *t)
{
    enum { OPS = 12, SIDE = 300 };
    const session *d = session_of(t);
    kit k = { 0 };
    tsr_tensor *x = NULL, *z[OPS] = { NULL };
    int64_t before = 0, after = 0;
    if (!d->backend->waits) {
        skip_trial(t, "the backend does not say how often it waits");
        return;
    }
    tsr_status s = make_full(&x, d->device, SIDE * SIDE, 1);
    STEP(tsr_reshape(&k.tensor[0], x, 2, (int64_t[]){ SIDE, SIDE }));
    STEP(queue_ops(z, k.tensor[0]));
    before = d->backend->waits(d->index);
    STEP(queue_ops(z, k.tensor[0]));
    after = d->backend->waits(d->index);
    if (s != TSR_OK)
        fail_call(t, "ops in a row", s);
    else if (after != before)
        break_contract(t, "the host waited %d times for ops that it queued", (int)(after - before));
    for (int i = 0; i < OPS; i++) tsr_release(&z[i]);
    tsr_release(&x);
    free_kit(t, &k);
}

void add_stream_checks(check_list *list)
{
    static const struct {
        const char *name;
        void (*run)(trial *t);
    } rows[] = {
        { "order within a stream", check_order },
        { "waits between streams", check_waits },
        { "events", check_events },
        { "many streams", check_many },
        { "tensors that die while work is queued", check_deaths },
        { "a stream that dies with work on it", check_stream_dies },
        { "graphs", check_graph },
        { "ops are queued without waiting", check_queueing },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_check(list, (check){ .family = "streams", .run = rows[i].run, .every = 2 }, rows[i].name);
}
