/* infiniccl.cpp - InfiniCCL among the ranks of one process.
 *
 * A call is a request. The k-th collective requests of all ranks of a group form one collective; the thread
 * that makes the last of them runs it for all. A send is matched with the receive of its peer. Until then
 * requests wait. */
#include "infiniccl.h"

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <unistd.h>

#include "device.h"
#include "live.h"

using namespace face;

namespace {

enum Kind { ALL_REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, SEND, RECV };

struct Request {
    Kind                kind;
    int                 rank;
    const char         *send;
    char               *recv;
    std::vector<size_t> counts; /* one, or one for each rank */
    infiniDtype_t       dtype;
    int                 detail; /* the reduction, the root, or the peer */
    infiniStatus_t      status = INFINI_STATUS_SUCCESS;
    bool                done = false;
};

using Waiting = std::deque<Request *>;

struct Group {
    explicit Group(int n) : ranks(n), joined((size_t)n), collectives((size_t)n) {}

    const int               ranks;
    std::mutex              lock;
    std::condition_variable changed;
    bool                    broken = false; /* a rank was destroyed */
    std::vector<bool>       joined;
    std::vector<Waiting>    collectives; /* by rank */
    std::list<Request *>    transfers;   /* sends and receives */
};

} // namespace

struct InfinicclComm {
    std::shared_ptr<Group> group;
    int                    rank;
};

namespace {

enum : uint32_t { COMM = 1 };
Live live;

/* What the calls of this thread queue between GroupStart and GroupEnd. */
struct Queued {
    std::shared_ptr<Group>   group;
    std::unique_ptr<Request> request;
};
thread_local std::vector<Queued> queued;
thread_local int                 depth = 0;

infiniStatus_t check(const InfinicclComm *comm)
{
    if (!comm) return INFINI_STATUS_NULL_POINTER;
    return live.kind(comm) == COMM ? INFINI_STATUS_SUCCESS : INFINI_STATUS_BAD_PARAM;
}

/* No memory is a status, not an exception. */
template <class Body>
infiniStatus_t guarded(Body &&body)
{
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return INFINI_STATUS_INTERNAL_ERROR;
    }
}

size_t size_of(infiniDtype_t dtype)
{
    tsr_dtype d = TSR_DTYPE_INVALID;
    if (dtype == INFINI_DTYPE_C16) return 2;
    return tsr_dtype_from_number(&d, TSR_NUMBERING_INFINIOP, dtype) == TSR_OK ? tsr_dtype_size(d) : 0;
}

/* Reductions ----------------------------------------------------------------------------------- */

struct Tensor {
    tsr_tensor *t = nullptr;
    ~Tensor() { tsr_release(&t); }
};

bool can_reduce(infiniDtype_t dtype)
{
    return dtype >= INFINI_DTYPE_I8 && (dtype <= INFINI_DTYPE_F64 || dtype == INFINI_DTYPE_BF16) &&
           dtype != INFINI_DTYPE_F8;
}

tsr_status combine(tsr_tensor **sum, const tsr_tensor *x, int op)
{
    switch (op) {
    case INFINICCL_PROD: return tsr_mul(sum, *sum, x);
    case INFINICCL_MAX: return tsr_maximum(sum, *sum, x);
    case INFINICCL_MIN: return tsr_minimum(sum, *sum, x);
    default: return tsr_add(sum, *sum, x);
    }
}

/* x / n; integers towards 0. */
tsr_status divide(tsr_tensor **x, int n)
{
    if (tsr_dtype_kind((*x)->dtype) == TSR_FLOATING) return tsr_div(x, *x, TSR_NUMBER(n));
    Tensor rest, has_rest, below, both, one_more;
    TSR_TRY(tsr_remainder(&rest.t, *x, TSR_NUMBER(n)));
    TSR_TRY(tsr_ne(&has_rest.t, rest.t, TSR_NUMBER(0)));
    TSR_TRY(tsr_lt(&below.t, *x, TSR_NUMBER(0)));
    TSR_TRY(tsr_logical_and(&both.t, has_rest.t, below.t));
    TSR_TRY(tsr_cast(&one_more.t, both.t, (*x)->dtype));
    TSR_TRY(tsr_floor_div(x, *x, TSR_NUMBER(n)));
    return tsr_add(x, *x, one_more.t);
}

/* All ranks' `count` elements as one, in out; short floats are summed as f32. */
tsr_status reduce(std::vector<char> *out, const std::vector<Request *> &requests, size_t count)
{
    const Request &first = *requests[0];
    const int64_t n = (int64_t)count;
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    Tensor sum, result;
    TSR_TRY(tsr_dtype_from_number(&dtype, TSR_NUMBERING_INFINIOP, first.dtype));
    const tsr_dtype wide = dtype == TSR_F16 || dtype == TSR_BF16 ? TSR_F32 : dtype;
    for (const Request *r : requests) {
        Tensor narrow, x;
        TSR_TRY(tsr_from_data(&narrow.t, dtype, 1, &n, r->send));
        TSR_TRY(tsr_cast(r == &first ? &sum.t : &x.t, narrow.t, wide));
        if (r != &first) TSR_TRY(combine(&sum.t, x.t, first.detail));
    }
    if (first.detail == INFINICCL_AVG) TSR_TRY(divide(&sum.t, (int)requests.size()));
    TSR_TRY(tsr_cast(&result.t, sum.t, dtype));
    out->resize(count * size_of(first.dtype));
    return tsr_store(out->data(), out->size(), result.t);
}

/* Collectives ---------------------------------------------------------------------------------- */

size_t total_of(const Request &r, int ranks)
{
    if (r.counts.size() == 1) return r.kind == REDUCE_SCATTER ? r.counts[0] * (size_t)ranks : r.counts[0];
    size_t sum = 0;
    for (size_t c : r.counts) sum += c;
    return sum;
}

size_t count_of(const Request &r, int rank) { return r.counts[r.counts.size() == 1 ? 0 : (size_t)rank]; }

void move(char *to, const char *from, size_t size)
{
    if (size) std::memmove(to, from, size);
}

void gather(const std::vector<Request *> &requests)
{
    for (const Request *to : requests) {
        char *at = to->recv;
        for (const Request *from : requests) {
            const size_t size = count_of(*from, from->rank) * size_of(from->dtype);
            move(at, from->send, size);
            at += size;
        }
    }
}

infiniStatus_t reduce_to(const std::vector<Request *> &requests)
{
    const Request &first = *requests[0];
    std::vector<char> sum;
    FACE_TRY(status_of(reduce(&sum, requests, total_of(first, (int)requests.size()))));
    const char *part = sum.data();
    for (const Request *r : requests) {
        const size_t size = first.kind == ALL_REDUCE ? sum.size() : count_of(*r, r->rank) * size_of(r->dtype);
        move(r->recv, part, size);
        if (first.kind == REDUCE_SCATTER) part += size;
    }
    return INFINI_STATUS_SUCCESS;
}

bool agree(const Request &a, const Request &b)
{
    return a.kind == b.kind && a.counts == b.counts && a.dtype == b.dtype && a.detail == b.detail;
}

infiniStatus_t carry_out(const std::vector<Request *> &requests)
{
    const Request &first = *requests[0];
    for (const Request *r : requests)
        if (!agree(*r, first)) return INFINI_STATUS_BAD_PARAM;
    if (first.kind == ALL_REDUCE || first.kind == REDUCE_SCATTER) return reduce_to(requests);
    if (first.kind == ALL_GATHER) {
        gather(requests);
        return INFINI_STATUS_SUCCESS;
    }
    for (const Request *r : requests)
        move(r->recv, requests[(size_t)first.detail]->send, first.counts[0] * size_of(first.dtype));
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t transfer(const Request &send, const Request &recv)
{
    if (send.counts != recv.counts || send.dtype != recv.dtype) return INFINI_STATUS_BAD_PARAM;
    move(recv.recv, send.send, send.counts[0] * size_of(send.dtype));
    return INFINI_STATUS_SUCCESS;
}

/* Requests ------------------------------------------------------------------------------------- */

void finish(Request *r, infiniStatus_t status)
{
    r->status = status;
    r->done = true;
}

void post_transfer(Group &group, Request *r)
{
    for (auto it = group.transfers.begin(); it != group.transfers.end(); ++it) {
        Request *other = *it;
        if (other->kind == r->kind || other->rank != r->detail || other->detail != r->rank) continue;
        const infiniStatus_t status = r->kind == SEND ? transfer(*r, *other) : transfer(*other, *r);
        group.transfers.erase(it);
        finish(other, status);
        return finish(r, status);
    }
    group.transfers.push_back(r);
}

void post_collective(Group &group, Request *r)
{
    std::vector<Request *> all;
    all.reserve((size_t)group.ranks); /* nothing may throw once the request waits */
    group.collectives[(size_t)r->rank].push_back(r);
    for (const Waiting &w : group.collectives) {
        if (w.empty()) return;
        all.push_back(w.front());
    }
    const infiniStatus_t status = guarded([&] { return carry_out(all); });
    for (Waiting &w : group.collectives) {
        finish(w.front(), status);
        w.pop_front();
    }
}

void post(Group &group, Request *r)
{
    const std::lock_guard<std::mutex> guard(group.lock);
    if (group.broken) return finish(r, INFINI_STATUS_BAD_PARAM);
    if (r->kind == SEND || r->kind == RECV) post_transfer(group, r);
    else post_collective(group, r);
    group.changed.notify_all();
}

infiniStatus_t wait(Group &group, const Request &r)
{
    std::unique_lock<std::mutex> guard(group.lock);
    group.changed.wait(guard, [&] { return r.done; });
    return r.status;
}

infiniStatus_t run(const InfinicclComm *comm, Request &&request)
{
    const std::shared_ptr<Group> group = comm->group;
    if (!depth) {
        post(*group, &request);
        return wait(*group, request);
    }
    queued.push_back({ group, std::unique_ptr<Request>(new Request(std::move(request))) });
    try {
        post(*group, queued.back().request.get());
    } catch (...) {
        queued.pop_back();
        throw;
    }
    return INFINI_STATUS_SUCCESS;
}

/* Whether a call is in order; then the request is made and run. */
infiniStatus_t call(Kind kind, const void *send, void *recv, const size_t *counts, int ncounts,
                    infiniDtype_t dtype, int detail, infinicclComm_t comm, infinirtStream_t stream)
{
    FACE_TRY(check(comm));
    FACE_TRY(infinirtStreamSynchronize(stream));
    const bool reduces = kind == ALL_REDUCE || kind == REDUCE_SCATTER;
    if (!counts) return INFINI_STATUS_NULL_POINTER;
    if (ncounts != 1 && ncounts != comm->group->ranks) return INFINI_STATUS_BAD_PARAM;
    if (!size_of(dtype) || (reduces && !can_reduce(dtype))) return INFINI_STATUS_BAD_TENSOR_DTYPE;
    if (detail < 0 || detail >= (reduces ? INFINICCL_AVG + 1 : comm->group->ranks))
        return INFINI_STATUS_BAD_PARAM;
    return guarded([&]() -> infiniStatus_t {
        Request r = { kind, comm->rank, (const char *)send, (char *)recv,
                      std::vector<size_t>(counts, counts + ncounts), dtype, detail };
        const size_t most = SIZE_MAX / 4 / size_of(dtype) / (size_t)comm->group->ranks;
        for (size_t c : r.counts)
            if (c > most / r.counts.size()) return INFINI_STATUS_BAD_PARAM;
        const bool sends = kind != RECV && (kind != BROADCAST || comm->rank == detail);
        if (total_of(r, comm->group->ranks) && ((sends && !send) || (kind != SEND && !recv)))
            return INFINI_STATUS_NULL_POINTER;
        return run(comm, std::move(r));
    });
}

/* Communicators -------------------------------------------------------------------------------- */

infiniStatus_t join(infinicclComm_t *out, const std::shared_ptr<Group> &group, int rank)
{
    std::unique_ptr<InfinicclComm> made(new InfinicclComm{ group, rank });
    if (!live.add(made.get(), COMM)) return INFINI_STATUS_INTERNAL_ERROR;
    group->joined[(size_t)rank] = true;
    *out = made.release();
    return INFINI_STATUS_SUCCESS;
}

/* Groups that not all ranks have joined, by their ids. */
struct Meetings {
    std::mutex                                    lock;
    std::map<std::string, std::shared_ptr<Group>> groups; /* NULL: nobody has joined yet */
    uint64_t                                      count = 0;
};

Meetings &meetings()
{
    static Meetings *all = new Meetings; /* never destroyed: programs may call at exit */
    return *all;
}

infiniStatus_t join_meeting(infinicclComm_t *out, int nranks, const std::string &id, int rank)
{
    const std::lock_guard<std::mutex> guard(meetings().lock);
    const auto found = meetings().groups.find(id);
    if (found == meetings().groups.end()) return INFINI_STATUS_BAD_PARAM;
    if (!found->second) found->second = std::make_shared<Group>(nranks);
    const std::shared_ptr<Group> group = found->second;
    if (group->ranks != nranks || group->joined[(size_t)rank]) return INFINI_STATUS_BAD_PARAM;
    FACE_TRY(join(out, group, rank));
    for (bool is_there : group->joined)
        if (!is_there) return INFINI_STATUS_SUCCESS;
    meetings().groups.erase(found);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t need_cpu()
{
    infiniDevice_t type;
    FACE_TRY(infinirtGetDevice(&type, nullptr));
    return type == INFINI_DEVICE_CPU ? INFINI_STATUS_SUCCESS : INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

} // namespace

infiniStatus_t infinicclCommInitAll(infiniDevice_t device_type, infinicclComm_t *comms, int ndevice,
                                    const int *)
{
    if (!comms) return INFINI_STATUS_NULL_POINTER;
    if (device_type != INFINI_DEVICE_CPU) return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
    if (ndevice <= 0) return INFINI_STATUS_BAD_PARAM;
    int made = 0;
    const infiniStatus_t status = guarded([&]() -> infiniStatus_t {
        const auto group = std::make_shared<Group>(ndevice);
        for (; made < ndevice; made++) FACE_TRY(join(&comms[made], group, made));
        return INFINI_STATUS_SUCCESS;
    });
    if (status != INFINI_STATUS_SUCCESS)
        while (made > 0) infinicclCommDestroy(comms[--made]);
    return status;
}

infiniStatus_t infinicclGetUniqueId(infinicclUniqueId_t *unique_id)
{
    if (!unique_id) return INFINI_STATUS_NULL_POINTER;
    FACE_TRY(need_cpu());
    const std::lock_guard<std::mutex> guard(meetings().lock);
    std::memset(unique_id, 0, sizeof *unique_id);
    std::snprintf(unique_id->internal, sizeof unique_id->internal, "tessera %ld %llu", (long)getpid(),
                  (unsigned long long)++meetings().count);
    return guarded([&] {
        meetings().groups[unique_id->internal] = nullptr;
        return INFINI_STATUS_SUCCESS;
    });
}

infiniStatus_t infinicclCommInitRank(infinicclComm_t *comm, int nranks, infinicclUniqueId_t comm_id, int rank)
{
    if (!comm) return INFINI_STATUS_NULL_POINTER;
    FACE_TRY(need_cpu());
    if (nranks <= 0 || rank < 0 || rank >= nranks) return INFINI_STATUS_BAD_PARAM;
    return guarded([&] {
        return join_meeting(comm, nranks, std::string(comm_id.internal, strnlen(comm_id.internal,
                                                      sizeof comm_id.internal)), rank);
    });
}

infiniStatus_t infinicclCommDestroy(infinicclComm_t comm)
{
    if (!comm) return INFINI_STATUS_SUCCESS;
    if (!live.remove(comm, COMM)) return INFINI_STATUS_BAD_PARAM;
    Group &group = *comm->group;
    {
        const std::lock_guard<std::mutex> guard(group.lock);
        group.broken = true;
        for (Waiting &w : group.collectives) {
            for (Request *r : w) finish(r, INFINI_STATUS_BAD_PARAM);
            w.clear();
        }
        for (Request *r : group.transfers) finish(r, INFINI_STATUS_BAD_PARAM);
        group.transfers.clear();
        group.changed.notify_all();
    }
    delete comm;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinicclGroupStart(infinicclComm_t comm)
{
    FACE_TRY(check(comm));
    depth++;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinicclGroupEnd(infinicclComm_t comm)
{
    FACE_TRY(check(comm));
    if (!depth) return INFINI_STATUS_BAD_PARAM;
    if (--depth) return INFINI_STATUS_SUCCESS;
    infiniStatus_t first = INFINI_STATUS_SUCCESS;
    for (const Queued &q : queued) {
        const infiniStatus_t status = wait(*q.group, *q.request);
        if (first == INFINI_STATUS_SUCCESS) first = status;
    }
    queued.clear();
    return first;
}

infiniStatus_t infinicclAllReduce(void *sendbuf, void *recvbuf, size_t count, infiniDtype_t datatype,
                                  infinicclReduceOp_t op, infinicclComm_t comm, infinirtStream_t stream)
{
    return call(ALL_REDUCE, sendbuf, recvbuf, &count, 1, datatype, op, comm, stream);
}

infiniStatus_t infinicclBroadcast(const void *sendbuf, void *recvbuf, size_t count, infiniDtype_t datatype,
                                  int root, infinicclComm_t comm, infinirtStream_t stream)
{
    return call(BROADCAST, sendbuf, recvbuf, &count, 1, datatype, root, comm, stream);
}

infiniStatus_t infinicclSend(const void *sendbuf, size_t count, infiniDtype_t datatype, int peer,
                             infinicclComm_t comm, infinirtStream_t stream)
{
    return call(SEND, sendbuf, nullptr, &count, 1, datatype, peer, comm, stream);
}

infiniStatus_t infinicclRecv(void *recvbuf, size_t count, infiniDtype_t datatype, int peer,
                             infinicclComm_t comm, infinirtStream_t stream)
{
    return call(RECV, nullptr, recvbuf, &count, 1, datatype, peer, comm, stream);
}

infiniStatus_t infinicclAllGather(void *sendbuf, void *recvbuf, size_t send_count, infiniDtype_t datatype,
                                  infinicclComm_t comm, infinirtStream_t stream)
{
    return call(ALL_GATHER, sendbuf, recvbuf, &send_count, 1, datatype, 0, comm, stream);
}

infiniStatus_t infinicclAllGatherV(void *sendbuf, void *recvbuf, const size_t *recv_counts, int nranks,
                                   infiniDtype_t datatype, infinicclComm_t comm, infinirtStream_t stream)
{
    FACE_TRY(check(comm));
    if (nranks != comm->group->ranks) return INFINI_STATUS_BAD_PARAM;
    return call(ALL_GATHER, sendbuf, recvbuf, recv_counts, nranks, datatype, 0, comm, stream);
}

infiniStatus_t infinicclReduceScatter(void *sendbuf, void *recvbuf, size_t recv_count, infiniDtype_t datatype,
                                      infinicclReduceOp_t op, infinicclComm_t comm, infinirtStream_t stream)
{
    return call(REDUCE_SCATTER, sendbuf, recvbuf, &recv_count, 1, datatype, op, comm, stream);
}

infiniStatus_t infinicclReduceScatterV(void *sendbuf, void *recvbuf, const size_t *send_counts, int nranks,
                                       infiniDtype_t datatype, infinicclReduceOp_t op, infinicclComm_t comm,
                                       infinirtStream_t stream)
{
    FACE_TRY(check(comm));
    if (nranks != comm->group->ranks) return INFINI_STATUS_BAD_PARAM;
    return call(REDUCE_SCATTER, sendbuf, recvbuf, send_counts, nranks, datatype, op, comm, stream);
}
