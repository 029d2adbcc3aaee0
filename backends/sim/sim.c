/* sim.c - devices simulated in host memory, to test what the library does with devices.
 *
 * Two devices, "sim:0" and "sim:1". Each has an address space of its own: the same pages are
 * mapped twice, once without access (at the addresses that tensors have) and once
 * for the device's own threads. A program that reads a sim tensor through its pointer faults
 * at once. Each stream is a thread; ops are computed by the CPU's kernels.
 *
 *   TSR_SIM_MEMORY=N        MiB of each device (256)
 *   TSR_SIM_WITHOUT=a,b     ops for which supports() returns false
 *   TSR_SIM_DELAY=N         every eighth piece of work or so begins up to N microseconds late (0); read when
 *                           a stream is made
 *   tsr_sim_inject(...)     makes a later call fail (below)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <tessera/backend.h>

enum { DEVICES = 2, LINE = 64, PAGE = 4096, PARAMS = 512 };

static const tsr_host *host;

/* Failing on purpose ------------------------------------------------------------------ */

/* Which call fails: "alloc", "run" (at once), "work" (queued work; the next call reports it), "upload",
 * "lost" (all calls from then on); the first `after` of them succeed. */
static struct { char what[16]; int after; } wish;
static pthread_mutex_t wish_lock = PTHREAD_MUTEX_INITIALIZER;

TSR_API void tsr_sim_inject(const char *what, int after);
void tsr_sim_inject(const char *what, int after)
{
    pthread_mutex_lock(&wish_lock);
    snprintf(wish.what, sizeof wish.what, "%s", what ? what : "");
    wish.after = after;
    pthread_mutex_unlock(&wish_lock);
}

static bool is_wished(const char *what)
{
    pthread_mutex_lock(&wish_lock);
    const bool yes = !strcmp(wish.what, what) && wish.after-- <= 0;
    if (yes) wish.what[0] = '\0';
    pthread_mutex_unlock(&wish_lock);
    return yes;
}

/* Devices -------------------------------------------------------------------------------- */

typedef struct hole {
    struct hole *next;
    size_t       at, bytes;
} hole;

typedef struct device {
    pthread_mutex_t lock;
    pthread_mutex_t streams_lock;      /* of the list of streams; none goes away while it is held */
    char           *outside, *inside;  /* the two mappings */
    size_t          total, used;
    hole           *holes;             /* by address */
    struct stream  *streams, *own;
    tsr_status      fault;             /* of work, not yet reported */
    char            words[256];
    bool            lost;
} device;

static device devices[DEVICES];

static tsr_status say(tsr_status status, const char *words) { return host->fail(status, words); }

/* The status of queued work that failed: the next call returns it, once. */
static tsr_status check_device(device *d)
{
    char words[256];
    pthread_mutex_lock(&d->lock);
    const tsr_status s = d->lost ? TSR_EDEVICE : d->fault;
    snprintf(words, sizeof words, "%s", d->words);
    d->fault = TSR_OK;
    pthread_mutex_unlock(&d->lock);
    return s == TSR_OK ? TSR_OK : say(s, words);
}

static void note_fault(device *d, tsr_status s, const char *op, const char *why)
{
    pthread_mutex_lock(&d->lock);
    if (d->fault == TSR_OK) {
        d->fault = s;
        snprintf(d->words, sizeof d->words, "%s: queued work on sim failed: %s", op, why);
    }
    pthread_mutex_unlock(&d->lock);
}

/* Older libraries have no such entry. */
static const char *setting(const char *name)
{
    return host->size > offsetof(tsr_host, env) ? host->env(name) : NULL;
}

static size_t memory_wanted(void)
{
    const char *text = setting("TSR_SIM_MEMORY");
    const long mib = text ? strtol(text, NULL, 10) : 0;
    return (size_t)(mib > 0 ? mib : 256) << 20;
}

static long delay_wanted(void)
{
    const char *text = setting("TSR_SIM_DELAY");
    const long wanted = text ? strtol(text, NULL, 10) : 0;
    return wanted < 1000000 ? wanted : 999999;
}

static bool open_device(device *d)
{
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->streams_lock, NULL);
    d->total = memory_wanted();
    const int fd = memfd_create("tessera-sim", MFD_CLOEXEC);
    if (fd < 0) return false;
    if (ftruncate(fd, (off_t)d->total) == 0) {
        d->inside = mmap(NULL, d->total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        d->outside = mmap(NULL, d->total, PROT_NONE, MAP_SHARED, fd, 0);
    }
    close(fd);
    d->holes = malloc(sizeof *d->holes);
    if (!d->holes || !d->inside || d->inside == MAP_FAILED || d->outside == MAP_FAILED) return false;
    *d->holes = (hole){ NULL, 0, d->total };
    return true;
}

/* Where the device's threads find an address of the outside. */
static void *within(const device *d, const void *outside)
{
    return d->inside + ((const char *)outside - d->outside);
}

/* Memory ---------------------------------------------------------------------------------- */

static int count_devices(void) { return DEVICES; }

/* Memory that the host may touch too has pages of its own. */
static bool is_shared(tsr_memory kind) { return kind == TSR_MEMORY_MANAGED || kind == TSR_MEMORY_MEDIA; }

static size_t rounded(size_t bytes, tsr_memory kind)
{
    const size_t unit = is_shared(kind) ? PAGE : LINE;
    return (bytes + unit - 1) / unit * unit;
}

static void insert_hole(device *d, size_t at, size_t bytes);

/* From the first hole that holds them, at a multiple of `unit`. With the lock held. */
static char *cut(device *d, size_t bytes, size_t unit)
{
    for (hole **h = &d->holes; *h; h = &(*h)->next) {
        hole *found = *h;
        const size_t skip = (unit - found->at % unit) % unit, at = found->at + skip;
        if (found->bytes < skip + bytes) continue;
        const size_t behind = found->bytes - skip - bytes;
        found->bytes = skip;
        if (skip == 0) {
            *h = found->next;
            free(found);
        }
        if (behind > 0) insert_hole(d, at + bytes, behind);
        d->used += bytes;
        return d->outside + at;
    }
    return NULL;
}

static tsr_status take(void **out, int index, size_t bytes, tsr_memory kind)
{
    device *d = &devices[index];
    tsr_status s = check_device(d);
    if (s != TSR_OK) return s;
    if (is_wished("alloc")) return say(TSR_ENOMEM, "sim: an allocation that was to fail");
    bytes = rounded(bytes, kind);
    pthread_mutex_lock(&d->lock);
    *out = cut(d, bytes, is_shared(kind) ? PAGE : LINE);
    pthread_mutex_unlock(&d->lock);
    if (!*out) return say(TSR_ENOMEM, "sim: the device's memory is used up");
    if (is_shared(kind)) (void)mprotect(*out, bytes, PROT_READ | PROT_WRITE);
    return TSR_OK;
}

/* A hole among the others, merged with its neighbours. */
static void insert_hole(device *d, size_t at, size_t bytes)
{
    hole **h = &d->holes;
    hole *before = NULL;
    while (*h && (*h)->at < at) {
        before = *h;
        h = &(*h)->next;
    }
    if (before && before->at + before->bytes == at) {
        before->bytes += bytes;
    } else {
        hole *fresh = malloc(sizeof *fresh);
        if (!fresh) return;  /* lost until the end: there is nobody to tell */
        *fresh = (hole){ *h, at, bytes };
        *h = before = fresh;
    }
    hole *next = before->next;
    if (next && before->at + before->bytes == next->at) {
        before->bytes += next->bytes;
        before->next = next->next;
        free(next);
    }
}

static void give(int index, void *data, size_t bytes, tsr_memory kind)
{
    device *d = &devices[index];
    bytes = rounded(bytes, kind);
    if (is_shared(kind)) (void)mprotect(data, bytes, PROT_NONE);
    pthread_mutex_lock(&d->lock);
    d->used -= bytes;
    insert_hole(d, (size_t)((char *)data - d->outside), bytes);
    pthread_mutex_unlock(&d->lock);
}

/* Memory of the host that transfers need not wait for. */
typedef struct pinned {
    struct pinned *next;
    char          *data;
    size_t         bytes;
} pinned;

static pinned *pins;
static pthread_mutex_t pins_lock = PTHREAD_MUTEX_INITIALIZER;

static tsr_status pin(void **out, size_t bytes)
{
    pinned *p = malloc(sizeof *p);
    if (is_wished("pin") || !p || posix_memalign(out, PAGE, bytes) != 0) {
        free(p);
        return say(TSR_ENOMEM, "sim: no memory to pin");
    }
    *p = (pinned){ NULL, *out, bytes };
    pthread_mutex_lock(&pins_lock);
    p->next = pins;
    pins = p;
    pthread_mutex_unlock(&pins_lock);
    return TSR_OK;
}

static void unpin(void *data, size_t bytes)
{
    (void)bytes;
    pthread_mutex_lock(&pins_lock);
    for (pinned **p = &pins; *p; p = &(*p)->next) {
        if ((*p)->data != data) continue;
        pinned *gone = *p;
        *p = gone->next;
        free(gone);
        break;
    }
    pthread_mutex_unlock(&pins_lock);
    free(data);
}

static bool is_pinned(const void *data)
{
    const char *at = data;
    bool found = false;
    pthread_mutex_lock(&pins_lock);
    for (const pinned *p = pins; p && !found; p = p->next) found = at >= p->data && at < p->data + p->bytes;
    pthread_mutex_unlock(&pins_lock);
    return found;
}

/* Work --------------------------------------------------------------------------------------- */

typedef struct event {
    pthread_mutex_t lock;
    pthread_cond_t  wake;
    uint64_t        recorded, done;  /* how often */
    double          when;
    int             owners;          /* the program's handle, and tasks */
} event;

typedef struct task {
    struct task *next;
    enum { RUN, UPLOAD, DOWNLOAD, PEER, RECORD, WAIT } what;
    tsr_op       op;
    tsr_tensor   operand[TSR_OP_MAX_IN + TSR_OP_MAX_OUT];
    _Alignas(16) unsigned char params[PARAMS];
    void        *to, *from;
    size_t       bytes;
    event       *event;
    uint64_t     number;
    bool         fails;
} task;

typedef struct stream {
    struct stream  *next;
    device         *device;
    pthread_t       thread;
    pthread_mutex_t lock;
    pthread_cond_t  more, idle;
    task           *first, **last;
    bool            busy, stop;
    long            latest;  /* TSR_SIM_DELAY, below a second */
    uint64_t        chance;
    struct graph   *capture;
} stream;

typedef struct graph {
    task *first, **last;
} graph;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void drop_event(event *e)
{
    pthread_mutex_lock(&e->lock);
    const bool last = --e->owners == 0;
    pthread_mutex_unlock(&e->lock);
    if (last) {
        pthread_mutex_destroy(&e->lock);
        pthread_cond_destroy(&e->wake);
        free(e);
    }
}

static void pass_event(event *e)
{
    pthread_mutex_lock(&e->lock);
    e->done++;
    e->when = seconds();
    pthread_cond_broadcast(&e->wake);
    pthread_mutex_unlock(&e->lock);
}

static void await_event(event *e, uint64_t number)
{
    pthread_mutex_lock(&e->lock);
    while (e->done < number) pthread_cond_wait(&e->wake, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

static void be_late(stream *s)
{
    if (s->latest <= 0) return;
    s->chance = s->chance * 6364136223846793005u + 1442695040888963407u;
    const struct timespec some = { 0, (long)((s->chance >> 33) % (uint64_t)s->latest) * 1000 };
    if (s->chance >> 61 == 0) nanosleep(&some, NULL);
}

static void perform(stream *s, task *t)
{
    device *d = s->device;
    be_late(s);
    const char *name = host->op_info(t->op.kind) ? host->op_info(t->op.kind)->name : "copy";
    switch (t->what) {
    case RUN: {
        tsr_status status = TSR_EDEVICE;
        if (!t->fails) status = host->compute(&t->op);
        if (status != TSR_OK) note_fault(d, status, name, t->fails ? "as was asked for" : host->last_error());
        break;
    }
    case UPLOAD:
    case DOWNLOAD:
    case PEER: memcpy(t->to, t->from, t->bytes); break;
    case RECORD: pass_event(t->event); break;
    case WAIT: await_event(t->event, t->number); break;
    }
}

static void free_task(task *t)
{
    if (t->event) drop_event(t->event);
    free(t);
}

static void *work(void *argument)
{
    stream *s = argument;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->first && !s->stop) pthread_cond_wait(&s->more, &s->lock);
        if (!s->first) break;
        task *t = s->first;
        s->first = t->next;
        if (!s->first) s->last = &s->first;
        s->busy = true;
        pthread_mutex_unlock(&s->lock);
        perform(s, t);
        free_task(t);
        pthread_mutex_lock(&s->lock);
        s->busy = false;
        pthread_cond_broadcast(&s->idle);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static stream *open_stream(device *d)
{
    stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->device = d;
    s->chance = (uintptr_t)s;
    s->latest = delay_wanted();
    s->last = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->more, NULL);
    pthread_cond_init(&s->idle, NULL);
    if (pthread_create(&s->thread, NULL, work, s) != 0) {
        free(s);
        return NULL;
    }
    pthread_mutex_lock(&d->streams_lock);
    s->next = d->streams;
    d->streams = s;
    pthread_mutex_unlock(&d->streams_lock);
    return s;
}

/* The device's own stream is opened by the first work. */
static stream *stream_of(int index, void *handle)
{
    device *d = &devices[index];
    static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
    if (handle) return handle;
    pthread_mutex_lock(&opening);
    if (!d->own) d->own = open_stream(d);
    pthread_mutex_unlock(&opening);
    return d->own;
}

static tsr_status queue(stream *s, task *t)
{
    pthread_mutex_lock(&s->lock);
    task ***last = s->capture ? &s->capture->last : &s->last;
    t->next = NULL;
    **last = t;
    *last = &t->next;
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
    return TSR_OK;
}

static void drain(stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->first || s->busy) pthread_cond_wait(&s->idle, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

/* The host waits, and it is counted. */
static int64_t waited[DEVICES];

static void wait_for(int index, stream *s)
{
    (void)__atomic_fetch_add(&waited[index], 1, __ATOMIC_RELAXED);
    drain(s);
}

static int64_t waits(int index) { return __atomic_load_n(&waited[index], __ATOMIC_RELAXED); }

static tsr_status new_task(task **out, stream **s, int index, void *handle)
{
    *s = stream_of(index, handle);
    *out = *s ? calloc(1, sizeof **out) : NULL;
    return *out ? TSR_OK : say(TSR_ENOMEM, "sim: no room for queued work");
}

/* Ops ------------------------------------------------------------------------------------------ */

static bool is_left_out(tsr_op_kind kind)
{
    const char *list = setting("TSR_SIM_WITHOUT"), *name = host->op_info(kind)->name;
    const size_t n = strlen(name);
    for (; list && *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == n && !memcmp(list, name, n)) return true;
    return false;
}

/* The op with operands where the device's threads, and the CPU's kernels, find them. */
static void carry(task *t, device *d, const tsr_op *op)
{
    t->op = *op;
    for (int i = 0; i < op->nin + op->nout; i++) {
        const tsr_tensor *from = i < op->nin ? op->in[i] : op->out[i - op->nin];
        tsr_tensor *to = &t->operand[i];
        if (!from) continue;
        *to = *from;
        to->data = within(d, from->data);
        to->storage = NULL;
        to->device = TSR_CPU;
        to->memory = TSR_MEMORY_HOST;
        if (i < op->nin) t->op.in[i] = to;
        else t->op.out[i - op->nin] = to;
    }
    if (op->params && host->params_size(op->kind) <= PARAMS) {
        memcpy(t->params, op->params, host->params_size(op->kind));
        t->op.params = t->params;
    }
}

static bool can(int index, const tsr_op *op)
{
    task t;
    if (is_left_out(op->kind) || host->params_size(op->kind) > PARAMS) return false;
    carry(&t, &devices[index], op);
    return host->can_compute(&t.op);
}

static const char *why_not(int index, const tsr_op *op)
{
    (void)index;
    return is_left_out(op->kind) ? "TSR_SIM_WITHOUT leaves it out" : "the CPU has no kernel for it";
}

static tsr_status run(int index, const tsr_op *op)
{
    device *d = &devices[index];
    stream *s;
    task *t;
    tsr_status status = check_device(d);
    if (status == TSR_OK) status = new_task(&t, &s, index, op->stream);
    if (status != TSR_OK) return status;
    if (is_wished("run")) {
        free(t);
        return say(TSR_EDEVICE, "sim: a launch that was to fail");
    }
    if (is_wished("lost")) {
        free(t);
        d->lost = true;
        snprintf(d->words, sizeof d->words, "%s: the sim device is lost", host->op_info(op->kind)->name);
        return check_device(d);
    }
    t->what = RUN;
    t->fails = is_wished("work");
    carry(t, d, op);
    return queue(s, t);
}

static tsr_status copy_pieces(int index, int n, tsr_tensor *const *dst, const tsr_tensor *const *src,
                              void *handle)
{
    tsr_status s = TSR_OK;
    tsr_op op = { .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .stream = handle };
    for (int i = 0; i < n && s == TSR_OK; i++) {
        op.in[0] = src[i];
        op.out[0] = dst[i];
        s = run(index, &op);
    }
    return s;
}

/* The smallest and the largest of n elements a stride apart, and of those that more dims repeat. */
static void widen(int64_t *low, int64_t *high, const int64_t *x, const tsr_tensor *t, int d)
{
    if (d == t->ndim) {
        if (*x < *low) *low = *x;
        if (*x > *high) *high = *x;
        return;
    }
    for (int64_t i = 0; i < t->shape[d]; i++) widen(low, high, x + i * t->stride[d], t, d + 1);
}

static tsr_status index_range(int index, const tsr_tensor *t, int64_t *low, int64_t *high, void *handle)
{
    stream *s = stream_of(index, handle);
    *low = *high = 0;
    if (!s) return say(TSR_ENOMEM, "sim: no room for a stream");
    if (s->capture) return TSR_OK;
    wait_for(index, s);
    const tsr_status status = check_device(&devices[index]);
    if (status != TSR_OK) return status;
    *low = INT64_MAX;
    *high = INT64_MIN;
    widen(low, high, within(&devices[index], t->data), t, 0);
    return TSR_OK;
}

/* Bytes ------------------------------------------------------------------------------------------ */

static tsr_status transfer(int index, int what, void *to, const void *from, size_t bytes, void *handle,
                           bool async)
{
    stream *s;
    task *t;
    tsr_status status = check_device(&devices[index]);
    if (status == TSR_OK && is_wished("upload")) return say(TSR_EDEVICE, "sim: a transfer that was to fail");
    if (status == TSR_OK) status = new_task(&t, &s, index, handle);
    if (status != TSR_OK) return status;
    t->what = what;
    t->to = to;
    t->from = (void *)(uintptr_t)from;
    t->bytes = bytes;
    status = queue(s, t);
    if (async) return status;
    wait_for(index, s);  /* the host's bytes are the caller's again */
    return status == TSR_OK && what == DOWNLOAD ? check_device(&devices[index]) : status;
}

static tsr_status upload(int index, void *dst, const void *src, size_t bytes, void *handle)
{
    return transfer(index, UPLOAD, within(&devices[index], dst), src, bytes, handle, is_pinned(src));
}

static tsr_status download(int index, void *dst, const void *src, size_t bytes, void *handle)
{
    return transfer(index, DOWNLOAD, dst, within(&devices[index], src), bytes, handle, is_pinned(dst));
}

static tsr_status peer(int to, void *dst, int from, const void *src, size_t bytes, void *handle)
{
    return transfer(to, PEER, within(&devices[to], dst), within(&devices[from], src), bytes, handle, true);
}

static tsr_status upload_rows(int index, void *dst, size_t dst_step, const void *src, size_t src_step,
                              size_t bytes, size_t rows, void *handle)
{
    tsr_status s = TSR_OK;
    for (size_t i = 0; i < rows && s == TSR_OK; i++)
        s = upload(index, (char *)dst + i * dst_step, (const char *)src + i * src_step, bytes, handle);
    return s;
}

static tsr_status download_rows(int index, void *dst, size_t dst_step, const void *src, size_t src_step,
                                size_t bytes, size_t rows, void *handle)
{
    tsr_status s = TSR_OK;
    for (size_t i = 0; i < rows && s == TSR_OK; i++)
        s = download(index, (char *)dst + i * dst_step, (const char *)src + i * src_step, bytes, handle);
    return s;
}

/* Streams and events --------------------------------------------------------------------------- */

static tsr_status sync_device(int index)
{
    device *d = &devices[index];
    pthread_mutex_lock(&d->streams_lock);
    for (stream *s = d->streams; s; s = s->next) wait_for(index, s);
    pthread_mutex_unlock(&d->streams_lock);
    return check_device(d);
}

static tsr_status stream_create(void **out, int index)
{
    *out = open_stream(&devices[index]);
    return *out ? TSR_OK : say(TSR_ENOMEM, "sim: no room for a stream");
}

static void stream_destroy(int index, void *handle)
{
    device *d = &devices[index];
    stream *gone = handle;
    pthread_mutex_lock(&gone->lock);
    gone->stop = true;
    pthread_cond_broadcast(&gone->more);
    pthread_mutex_unlock(&gone->lock);
    pthread_join(gone->thread, NULL);
    pthread_mutex_lock(&d->streams_lock);
    for (stream **s = &d->streams; *s; s = &(*s)->next)
        if (*s == gone) {
            *s = gone->next;
            break;
        }
    pthread_mutex_unlock(&d->streams_lock);
    pthread_mutex_destroy(&gone->lock);
    pthread_cond_destroy(&gone->more);
    pthread_cond_destroy(&gone->idle);
    free(gone);
}

static tsr_status stream_sync(int index, void *handle)
{
    stream *s = stream_of(index, handle);
    if (s) wait_for(index, s);
    return check_device(&devices[index]);
}

static tsr_status event_create(void **out, int index)
{
    event *e = calloc(1, sizeof *e);
    (void)index;
    if (!e) return say(TSR_ENOMEM, "sim: no room for an event");
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->wake, NULL);
    e->owners = 1;
    *out = e;
    return TSR_OK;
}

static void event_destroy(int index, void *handle)
{
    (void)index;
    drop_event(handle);
}

static tsr_status queue_event(int index, void *handle, event *e, int what)
{
    stream *s;
    task *t;
    const tsr_status status = new_task(&t, &s, index, handle);
    if (status != TSR_OK) return status;
    pthread_mutex_lock(&e->lock);
    e->owners++;
    if (what == RECORD) e->recorded++;
    t->number = e->recorded;
    pthread_mutex_unlock(&e->lock);
    t->what = what;
    t->event = e;
    return queue(s, t);
}

static tsr_status event_record(int index, void *handle, void *on)
{
    return queue_event(index, on, handle, RECORD);
}
static tsr_status stream_wait(int index, void *on, void *handle)
{
    return queue_event(index, on, handle, WAIT);
}

static tsr_status event_sync(int index, void *handle)
{
    event *e = handle;
    (void)__atomic_fetch_add(&waited[index], 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&e->lock);
    while (e->done < e->recorded) pthread_cond_wait(&e->wake, &e->lock);
    pthread_mutex_unlock(&e->lock);
    return check_device(&devices[index]);
}

static tsr_status event_done(int index, void *handle, bool *done)
{
    event *e = handle;
    (void)index;
    pthread_mutex_lock(&e->lock);
    *done = e->done >= e->recorded;
    pthread_mutex_unlock(&e->lock);
    return TSR_OK;
}

static tsr_status event_elapsed(int index, double *out, void *from, void *to)
{
    const event *a = from, *b = to;
    (void)index;
    if (!a->done || !b->done) return say(TSR_EINVAL, "sim: an event was not recorded, or is not done");
    *out = b->when - a->when;
    return TSR_OK;
}

/* Graphs ------------------------------------------------------------------------------------------- */

static tsr_status graph_begin(int index, void *handle)
{
    stream *s = stream_of(index, handle);
    graph *g = calloc(1, sizeof *g);
    if (!s || !g) {
        free(g);
        return say(TSR_ENOMEM, "sim: no room for a graph");
    }
    g->last = &g->first;
    pthread_mutex_lock(&s->lock);
    const bool busy = s->capture != NULL;
    if (!busy) s->capture = g;
    pthread_mutex_unlock(&s->lock);
    if (!busy) return TSR_OK;
    free(g);
    return say(TSR_EBUSY, "sim: the stream is keeping a graph already");
}

static tsr_status graph_end(int index, void *handle, void **out)
{
    stream *s = stream_of(index, handle);
    pthread_mutex_lock(&s->lock);
    graph *g = s->capture;
    s->capture = NULL;
    pthread_mutex_unlock(&s->lock);
    *out = g;
    return g ? TSR_OK : say(TSR_EINVAL, "sim: the stream is keeping no graph");
}

/* A copy of a task, with pointers into itself. */
static task *again(const task *from)
{
    task *t = malloc(sizeof *t);
    if (!t) return NULL;
    *t = *from;
    for (int i = 0; i < t->op.nin; i++)
        if (t->op.in[i]) t->op.in[i] = &t->operand[from->op.in[i] - from->operand];
    for (int i = 0; i < t->op.nout; i++) t->op.out[i] = &t->operand[from->op.out[i] - from->operand];
    if (t->op.params) t->op.params = t->params;
    if (t->event) {
        pthread_mutex_lock(&t->event->lock);
        t->event->owners++;
        if (t->what == RECORD) t->event->recorded++;
        pthread_mutex_unlock(&t->event->lock);
    }
    return t;
}

static tsr_status graph_launch(int index, void *handle, void *on)
{
    const graph *g = handle;
    stream *s = stream_of(index, on);
    tsr_status status = check_device(&devices[index]);
    for (const task *t = g->first; t && status == TSR_OK; t = t->next) {
        task *copy = s ? again(t) : NULL;
        status = copy ? queue(s, copy) : say(TSR_ENOMEM, "sim: no room for queued work");
    }
    return status;
}

static void graph_destroy(int index, void *handle)
{
    graph *g = handle;
    (void)index;
    for (task *t = g->first, *next; t; t = next) {
        next = t->next;
        free_task(t);
    }
    free(g);
}

/* The table ---------------------------------------------------------------------------------------- */

static tsr_status describe(int index, tsr_device_info *out)
{
    device *d = &devices[index];
    snprintf(out->name, sizeof out->name, "simulated device %d", index);
    snprintf(out->capabilities, sizeof out->capabilities, "f64 f16 bf16 async graphs peer");
    pthread_mutex_lock(&d->lock);
    out->memory_total = d->total;
    out->memory_free = d->total - d->used;
    pthread_mutex_unlock(&d->lock);
    out->units = 1;
    return TSR_OK;
}

static const tsr_backend table = {
    .abi = TSR_BACKEND_ABI,
    .size = sizeof(tsr_backend),
    .name = "sim",
    .device_count = count_devices,
    .alloc = take,
    .free = give,
    .supports = can,
    .run = run,
    .sync = sync_device,
    .why_not = why_not,
    .device_info = describe,
    .host_alloc = pin,
    .host_free = unpin,
    .upload = upload,
    .download = download,
    .peer = peer,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_sync = stream_sync,
    .stream_wait = stream_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_sync = event_sync,
    .event_done = event_done,
    .event_elapsed = event_elapsed,
    .graph_begin = graph_begin,
    .graph_end = graph_end,
    .graph_launch = graph_launch,
    .graph_destroy = graph_destroy,
    .upload_rows = upload_rows,
    .download_rows = download_rows,
    .copy_pieces = copy_pieces,
    .waits = waits,
    .index_range = index_range,
};

TSR_API const tsr_backend *tsr_backend_entry(const tsr_host *services);
const tsr_backend *tsr_backend_entry(const tsr_host *services)
{
    if (host && host != services) {
        (void)services->fail(TSR_EBUSY, "sim: another copy of the library uses it");
        return NULL;
    }
    host = services;
    for (int i = 0; i < DEVICES; i++)
        if (!devices[i].inside && !open_device(&devices[i])) {
            (void)services->fail(TSR_ENOMEM, "sim: no memory to play a device with");
            return NULL;
        }
    return &table;
}
