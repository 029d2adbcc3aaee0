/* graphs.c - work of a stream that is recorded once and launched again, and the memory that it uses. */
#include "streams.h"
#include "core/alloc.h"
#include "core/lock.h"
#include "core/mem.h"

/* A block of memory that belongs to a graph. `idle`: no tensor has it now. */
typedef struct held {
    struct held *next;
    void        *data;
    size_t       reserved;
    tsr_memory   kind;
    bool         idle;
} held;

struct tsr_graph {
    tsr_graph *next;       /* in the list of all graphs */
    tsr_device device;
    int        stream;     /* that is recording it; -1 when it is complete */
    void      *handle;
    held      *blocks;
};

static tsri_mutex lock = TSRI_MUTEX_INIT;
static tsr_graph *graphs;
static int32_t ngraphs;  /* read without the lock, as there usually are none */

/* The graph that this stream is recording, or NULL. With the lock held. */
static tsr_graph *keeper(tsr_device device, int stream)
{
    for (tsr_graph *g = graphs; g; g = g->next)
        if (g->device == device && g->stream == stream) return g;
    return NULL;
}

static void hold(tsr_graph *g, void *data, size_t reserved, tsr_memory kind, bool idle)
{
    held *h = tsri_alloc(sizeof *h, TSRI_CACHE_LINE);
    if (!h) return;  /* the block may be reused while the graph is there, once its tensor is released */
    *h = (held){ g->blocks, data, reserved, kind, idle };
    g->blocks = h;
}

void *tsri_graph_take(tsr_device device, int stream, size_t reserved, tsr_memory kind)
{
    void *found = NULL;
    if (!tsri_load_acquire(&ngraphs)) return NULL;
    tsri_lock(&lock);
    const tsr_graph *g = keeper(device, stream);
    for (held *h = g ? g->blocks : NULL; h && !found; h = h->next) {
        if (!h->idle || h->reserved != reserved || h->kind != kind) continue;
        h->idle = false;
        found = h->data;
    }
    tsri_unlock(&lock);
    return found;
}

void tsri_graph_took(tsr_device device, int stream, void *data, size_t reserved, tsr_memory kind)
{
    if (!tsri_load_acquire(&ngraphs)) return;
    tsri_lock(&lock);
    tsr_graph *g = keeper(device, stream);
    if (g) hold(g, data, reserved, kind, false);
    tsri_unlock(&lock);
}

bool tsri_graph_gave(tsr_device device, int stream, void *data, size_t reserved, tsr_memory kind)
{
    bool kept = false;
    if (!tsri_load_acquire(&ngraphs)) return false;
    tsri_lock(&lock);
    for (tsr_graph *g = graphs; g && !kept; g = g->next)
        for (held *h = g->blocks; h && !kept; h = h->next)
            if (g->device == device && h->data == data) kept = h->idle = true;
    tsr_graph *g = kept ? NULL : keeper(device, stream);
    if (g) {
        hold(g, data, reserved, kind, true);
        kept = true;
    }
    tsri_unlock(&lock);
    return kept;
}

/* Removes the graph from the list; its blocks that no tensor has go back to the pool. */
static void forget(tsr_graph *g)
{
    tsri_lock(&lock);
    tsr_graph **at = &graphs;
    while (*at != g) at = &(*at)->next;
    *at = g->next;
    tsri_store_release(&ngraphs, ngraphs - 1);
    tsri_unlock(&lock);
    for (held *h = g->blocks, *next; h; h = next) {
        next = h->next;
        if (h->idle) tsri_device_give(g->device, h->data, h->reserved, h->kind, 0);
        tsri_free(h, sizeof *h);
    }
    tsri_free(g, sizeof *g);
}

tsr_status tsr_graph_begin(tsr_stream *s)
{
    const tsr_backend *b = NULL;
    int index = 0;
    TSRI_CHECK(s, TSR_ENULL, "graph_begin: s is NULL");
    TSRI_TRY(tsri_backend_of(&b, &index, "graph_begin", s->device));
    TSRI_CHECK(b->graph_begin, TSR_EUNSUPPORTED, "graph_begin: the %s backend has no graphs", b->name);
    tsr_graph *g = tsri_alloc(sizeof *g, TSRI_CACHE_LINE);
    TSRI_CHECK(g, TSR_ENOMEM, "graph_begin: no room for a graph");
    *g = (tsr_graph){ .device = s->device, .stream = s->number };
    tsri_lock(&lock);
    const bool busy = keeper(s->device, s->number) != NULL;
    if (!busy) {
        g->next = graphs;
        graphs = g;
        tsri_store_release(&ngraphs, ngraphs + 1);
    }
    tsri_unlock(&lock);
    if (busy) {
        tsri_free(g, sizeof *g);
        return tsri_fail(TSR_EBUSY, "graph_begin: the stream keeps a graph already");
    }
    const tsr_status status = TSRI_ASK("graph_begin", b, b->graph_begin(index, s->handle));
    if (status != TSR_OK) forget(g);
    return status;
}

tsr_status tsr_graph_end(tsr_graph **out, tsr_stream *s)
{
    const tsr_backend *b = NULL;
    int index = 0;
    TSRI_CHECK(out, TSR_ENULL, "graph_end: out is NULL");
    TSRI_CHECK(s, TSR_ENULL, "graph_end: s is NULL");
    TSRI_TRY(tsri_backend_of(&b, &index, "graph_end", s->device));
    tsri_lock(&lock);
    tsr_graph *g = keeper(s->device, s->number);
    if (g) g->stream = -1;
    tsri_unlock(&lock);
    TSRI_CHECK(g, TSR_EINVAL, "graph_end: the stream keeps no graph");
    const tsr_status status = TSRI_ASK("graph_end", b, b->graph_end(index, s->handle, &g->handle));
    if (status != TSR_OK) forget(g);
    else *out = g;
    return status;
}

tsr_status tsr_graph_launch(tsr_graph *g, tsr_stream *s)
{
    const tsr_backend *b = NULL;
    int index = 0;
    void *handle = NULL;
    TSRI_CHECK(g, TSR_ENULL, "graph_launch: g is NULL");
    TSRI_TRY(tsri_backend_of(&b, &index, "graph_launch", g->device));
    TSRI_TRY(tsri_stream_handle_of(&handle, "graph_launch", s, g->device));
    return TSRI_ASK("graph_launch", b, b->graph_launch(index, g->handle, handle));
}

void tsr_graph_destroy(tsr_graph **g)
{
    const tsr_backend *b = NULL;
    int index = 0;
    if (!g || !*g) return;
    tsr_graph *gone = *g;
    *g = NULL;
    if (tsri_backend_of(&b, &index, "graph_destroy", gone->device) == TSR_OK) {
        if (b->sync) (void)b->sync(index);  /* the graph may still be running */
        b->graph_destroy(index, gone->handle);
    }
    forget(gone);
}
