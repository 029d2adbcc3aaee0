/* threads.c - several threads at once, each with a stream of its own, or all with the device's. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 25 };

typedef struct worker {
    pthread_t thread;
    tsr_device device;
    int number;
    bool own_stream, compares;
    tsr_status status;
    char words[200];
} worker;

/* One number through an upload, some ops and a download. */
static tsr_status one_round(const worker *w, int round)
{
    tsr_tensor *host = NULL, *x = NULL, *y = NULL, *sum = NULL, *back = NULL;
    const int64_t n = 100 + 37 * w->number + round * 50;
    const double number = w->number + 1;
    double got = 0;
    tsr_status s = tsr_full(&host, TSR_F32, 1, &n, tsr_scalar_f64(number));
    if (s == TSR_OK) s = tsr_to(&x, host, w->device);
    if (s == TSR_OK) s = tsr_mul(&y, x, TSR_NUMBER(2));
    if (s == TSR_OK) s = tsr_add(&x, x, y);
    if (s == TSR_OK) s = tsr_sum(&sum, x, 0, NULL, false);
    if (s == TSR_OK) s = tsr_item_f64(&got, sum);
    if (s == TSR_OK && w->compares && got != 3 * number * (double)n) s = TSR_ESTATE;
    if (s == TSR_OK) s = tsr_to_host(&back, y);
    if (s == TSR_OK && w->compares && ((const float *)back->data)[n - 1] != (float)(2 * number))
        s = TSR_ESTATE;
    tsr_release_all(&host, &x, &y, &sum, &back);
    return s;
}

static void *work(void *argument)
{
    worker *w = argument;
    tsr_stream *stream = NULL;
    if (w->own_stream) w->status = tsr_stream_create(&stream, w->device);
    if (w->own_stream && w->status == TSR_OK) w->status = tsr_stream_use(stream);
    for (int i = 0; i < ROUNDS && w->status == TSR_OK; i++) w->status = one_round(w, i);
    snprintf(w->words, sizeof w->words, "%s", w->status == TSR_ESTATE ? "a wrong sum" : tsr_last_error());
    tsr_stream_destroy(&stream);
    return NULL;
}

static void run_threads(trial *t, bool own_stream)
{
    worker workers[THREADS];
    int started = 0;
    for (; started < THREADS; started++) {
        workers[started] = (worker){ .device = session_of(t)->device,
                                     .number = started,
                                     .own_stream = own_stream,
                                     .compares = !session_of(t)->plumbing };
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0) break;
    }
    for (int i = 0; i < started; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        if (workers[i].status != TSR_OK)
            break_contract(t, "thread %d ended with %s: %s", i, tsr_status_name(workers[i].status),
                           workers[i].words);
    }
    if (started < THREADS) skip_trial(t, "no more threads can be started");
}

static void check_own(trial *t) { run_threads(t, true); }
static void check_shared(trial *t) { run_threads(t, false); }

void add_thread_checks(check_list *list)
{
    add_check(list, (check){ .family = "threads", .run = check_own, .every = 2 },
              "threads with streams of their own");
    add_check(list, (check){ .family = "threads", .run = check_shared, .every = 2 }, "threads on one stream");
}
