/* test_infiniop_ccl.cpp - InfiniCCL: ranks that are threads, against sums in plain loops. */
#include "infiniop_test.h"

#include <thread>

#include "infiniccl.h"

/* n communicators, and body(rank, comm) in a thread for each. */
class Ranks {
public:
    explicit Ranks(int n) : comms_((size_t)n)
    {
        std::vector<int> ids((size_t)n);
        EXPECT_DONE(infinicclCommInitAll(INFINI_DEVICE_CPU, comms_.data(), n, ids.data()));
    }
    ~Ranks() { for (infinicclComm_t c : comms_) EXPECT_DONE(infinicclCommDestroy(c)); }

    void run(const std::function<void(int, infinicclComm_t)> &body)
    {
        std::vector<std::thread> threads;
        for (size_t i = 0; i < comms_.size(); i++)
            threads.emplace_back([&, i] { body((int)i, comms_[i]); });
        for (std::thread &t : threads) t.join();
    }
    infinicclComm_t operator[](int i) const { return comms_[(size_t)i]; }

private:
    std::vector<infinicclComm_t> comms_;
};

static double value(int rank, size_t i) { return (double)(int)((i * 7 + (size_t)rank * 3) % 11) - 5; }

static double reduced(int op, int ranks, size_t i)
{
    double r = value(0, i);
    for (int k = 1; k < ranks; k++) {
        const double x = value(k, i);
        r = op == INFINICCL_PROD  ? r * x
            : op == INFINICCL_MAX ? std::fmax(r, x)
            : op == INFINICCL_MIN ? std::fmin(r, x)
                                  : r + x;
    }
    return op == INFINICCL_AVG ? r / ranks : r;
}

TEST(test_all_reduce_gives_every_rank_the_same)
{
    const infiniDtype_t dtypes[] = { INFINI_DTYPE_F32, INFINI_DTYPE_F16, INFINI_DTYPE_BF16, INFINI_DTYPE_F64,
                                     INFINI_DTYPE_I32, INFINI_DTYPE_I64, INFINI_DTYPE_I8 };
    for (int n : { 1, 2, 3 })
        for (infiniDtype_t d : dtypes)
            for (int op = INFINICCL_SUM; op <= INFINICCL_AVG; op++) {
                Ranks ranks(n);
                ranks.run([&](int rank, infinicclComm_t comm) {
                    Array x({ 37 }, d, {}, 1), y({ 37 }, d);
                    x.fill([&](size_t i) { return value(rank, i); });
                    EXPECT_DONE(infinicclAllReduce(x.data(), y.data(), 37, d, (infinicclReduceOp_t)op, comm,
                                                   nullptr));
                    EXPECT_DONE(infinicclAllReduce(x.data(), x.data(), 37, d, (infinicclReduceOp_t)op, comm,
                                                   nullptr));
                    const bool whole = size_of(d) == 1 || d == INFINI_DTYPE_I32 || d == INFINI_DTYPE_I64;
                    const auto want = [&](size_t i) {
                        return whole ? std::trunc(reduced(op, n, i)) : reduced(op, n, i);
                    };
                    expect_elements("all reduce", y, want);
                    expect_elements("all reduce in place", x, want);
                });
            }
}

TEST(test_parts_are_gathered_and_scattered)
{
    const int n = 3;
    const size_t counts[n] = { 2, 0, 3 }, all = 5;
    Ranks ranks(n);
    ranks.run([&](int rank, infinicclComm_t comm) {
        const size_t mine = counts[rank], first = rank == 0 ? 0 : 2;
        Array x({ 5 }, INFINI_DTYPE_F32), y({ 15 }, INFINI_DTYPE_F32), v({ all }, INFINI_DTYPE_F32),
            part({ 5 }, INFINI_DTYPE_F32), some({ 3 }, INFINI_DTYPE_F32);
        x.fill([&](size_t i) { return value(rank, i); });
        EXPECT_DONE(infinicclAllGather(x.data(), y.data(), 5, INFINI_DTYPE_F32, comm, nullptr));
        expect_elements("gathered", y, [&](size_t i) { return value((int)(i / 5), i % 5); });
        EXPECT_DONE(infinicclAllGatherV(x.data(), v.data(), counts, n, INFINI_DTYPE_F32, comm, nullptr));
        expect_elements("gathered parts", v, [&](size_t i) { return i < 2 ? value(0, i) : value(2, i - 2); });
        Array z({ 15 }, INFINI_DTYPE_F32);
        z.fill([&](size_t i) { return value(rank, i); });
        EXPECT_DONE(
            infinicclReduceScatter(z.data(), part.data(), 5, INFINI_DTYPE_F32, INFINICCL_SUM, comm, nullptr));
        expect_elements("scattered", part,
                        [&](size_t i) { return reduced(INFINICCL_SUM, n, (size_t)rank * 5 + i); });
        EXPECT_DONE(infinicclReduceScatterV(x.data(), some.data(), counts, n, INFINI_DTYPE_F32, INFINICCL_MAX,
                                            comm, nullptr));
        for (size_t i = 0; i < mine; i++) EXPECT(some[i] == reduced(INFINICCL_MAX, n, first + i));
        for (size_t i = mine; i < 3; i++) EXPECT(some[i] == 0);
    });
}

TEST(test_a_root_and_peers_reach_the_others)
{
    const int n = 3;
    Ranks ranks(n);
    ranks.run([&](int rank, infinicclComm_t comm) {
        Array x({ 9 }, INFINI_DTYPE_I64), y({ 9 }, INFINI_DTYPE_I64), z({ 9 }, INFINI_DTYPE_I64);
        x.fill([&](size_t i) { return value(rank, i); });
        EXPECT_DONE(infinicclBroadcast(rank == 1 ? x.data() : nullptr, y.data(), 9, INFINI_DTYPE_I64, 1, comm,
                                       nullptr));
        expect_elements("broadcast", y, [&](size_t i) { return value(1, i); });
        const int next = (rank + 1) % n, last = (rank + n - 1) % n;
        EXPECT_DONE(infinicclGroupStart(comm)); /* a ring: each sends and receives at once */
        EXPECT_DONE(infinicclSend(x.data(), 9, INFINI_DTYPE_I64, next, comm, nullptr));
        EXPECT_DONE(infinicclRecv(z.data(), 9, INFINI_DTYPE_I64, last, comm, nullptr));
        EXPECT_DONE(infinicclGroupEnd(comm));
        expect_elements("ring", z, [&](size_t i) { return value(last, i); });
    });
}

TEST(test_one_thread_serves_all_ranks_in_a_group)
{
    Ranks ranks(2);
    Array a({ 4 }, INFINI_DTYPE_F32), b({ 4 }, INFINI_DTYPE_F32);
    a.fill([](size_t i) { return value(0, i); });
    b.fill([](size_t i) { return value(1, i); });
    EXPECT_DONE(infinicclGroupStart(ranks[0]));
    EXPECT_DONE(infinicclGroupStart(ranks[1]));
    EXPECT_DONE(
        infinicclAllReduce(a.data(), a.data(), 4, INFINI_DTYPE_F32, INFINICCL_SUM, ranks[0], nullptr));
    EXPECT_DONE(
        infinicclAllReduce(b.data(), b.data(), 4, INFINI_DTYPE_F32, INFINICCL_SUM, ranks[1], nullptr));
    EXPECT_DONE(infinicclGroupEnd(ranks[1]));
    EXPECT_DONE(infinicclGroupEnd(ranks[0]));
    expect_elements("a", a, [](size_t i) { return reduced(INFINICCL_SUM, 2, i); });
    expect_elements("b", b, [](size_t i) { return reduced(INFINICCL_SUM, 2, i); });
    EXPECT_INFINI(infinicclGroupEnd(ranks[0]), INFINI_STATUS_BAD_PARAM);
}

TEST(test_ranks_join_by_an_id)
{
    infinicclUniqueId_t id, other = {};
    infinicclComm_t comms[2] = {}, third = nullptr;
    EXPECT_DONE(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    EXPECT_DONE(infinicclGetUniqueId(&id));
    EXPECT_INFINI(infinicclCommInitRank(&third, 2, other, 0), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinicclCommInitRank(&third, 2, id, 2), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinicclCommInitRank(nullptr, 2, id, 0), INFINI_STATUS_NULL_POINTER);
    EXPECT_DONE(infinicclCommInitRank(&comms[1], 2, id, 1));
    EXPECT_INFINI(infinicclCommInitRank(&third, 2, id, 1), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinicclCommInitRank(&third, 3, id, 0), INFINI_STATUS_BAD_PARAM);
    EXPECT_DONE(infinicclCommInitRank(&comms[0], 2, id, 0));
    EXPECT_INFINI(infinicclCommInitRank(&third, 2, id, 0), INFINI_STATUS_BAD_PARAM);
    double x = 3, y = 0;
    std::thread sender([&] { EXPECT_DONE(infinicclSend(&x, 1, INFINI_DTYPE_F64, 1, comms[0], nullptr)); });
    EXPECT_DONE(infinicclRecv(&y, 1, INFINI_DTYPE_F64, 0, comms[1], nullptr));
    sender.join();
    EXPECT(y == 3);
    for (infinicclComm_t c : comms) EXPECT_DONE(infinicclCommDestroy(c));
}

TEST(test_what_does_not_fit_is_a_status_for_all_ranks)
{
    float x[4] = {}, y[4] = {};
    {
        Ranks ranks(2);
        ranks.run([&](int rank, infinicclComm_t comm) { /* counts differ */
                                                        EXPECT_INFINI(infinicclAllReduce(x, rank ? x : y,
                                                                                         2 + (size_t)rank,
                                                                                         INFINI_DTYPE_F32,
                                                                                         INFINICCL_SUM, comm,
                                                                                         nullptr),
                                                                      INFINI_STATUS_BAD_PARAM);
        });
        EXPECT_INFINI(infinicclAllReduce(x, y, 4, INFINI_DTYPE_BOOL, INFINICCL_SUM, ranks[0], nullptr),
                      INFINI_STATUS_BAD_TENSOR_DTYPE);
        EXPECT_INFINI(infinicclAllReduce(x, y, 4, (infiniDtype_t)25, INFINICCL_SUM, ranks[0], nullptr),
                      INFINI_STATUS_BAD_TENSOR_DTYPE);
        EXPECT_INFINI(infinicclAllReduce(x, y, 4, INFINI_DTYPE_F32, (infinicclReduceOp_t)7, ranks[0],
                                         nullptr),
                      INFINI_STATUS_BAD_PARAM);
        EXPECT_INFINI(infinicclAllReduce(nullptr, y, 4, INFINI_DTYPE_F32, INFINICCL_SUM, ranks[0], nullptr),
                      INFINI_STATUS_NULL_POINTER);
        EXPECT_INFINI(infinicclAllReduce(x, y, SIZE_MAX / 3, INFINI_DTYPE_F32, INFINICCL_SUM, ranks[0],
                                         nullptr),
                      INFINI_STATUS_BAD_PARAM);
        EXPECT_INFINI(infinicclAllReduce(x, y, 4, INFINI_DTYPE_F32, INFINICCL_SUM, nullptr, nullptr),
                      INFINI_STATUS_NULL_POINTER);
        EXPECT_INFINI(infinicclBroadcast(x, y, 4, INFINI_DTYPE_F32, 2, ranks[0], nullptr),
                      INFINI_STATUS_BAD_PARAM);
        EXPECT_INFINI(infinicclSend(x, 4, INFINI_DTYPE_F32, -1, ranks[0], nullptr), INFINI_STATUS_BAD_PARAM);
        EXPECT_INFINI(infinicclAllGatherV(x, y, nullptr, 2, INFINI_DTYPE_F32, ranks[0], nullptr),
                      INFINI_STATUS_NULL_POINTER);
        const size_t counts[2] = { 1, 1 };
        EXPECT_INFINI(infinicclAllGatherV(x, y, counts, 1, INFINI_DTYPE_F32, ranks[0], nullptr),
                      INFINI_STATUS_BAD_PARAM);
        EXPECT_INFINI(infinicclAllReduce(x, y, 4, INFINI_DTYPE_F32, INFINICCL_SUM, ranks[0], x),
                      INFINI_STATUS_BAD_PARAM);
    }
    infinicclComm_t comms[2];
    EXPECT_INFINI(infinicclCommInitAll(INFINI_DEVICE_NVIDIA, comms, 2, nullptr),
                  INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED);
    EXPECT_INFINI(infinicclCommInitAll(INFINI_DEVICE_CPU, comms, 0, nullptr), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinicclCommInitAll(INFINI_DEVICE_CPU, nullptr, 2, nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinicclGetUniqueId(nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_DONE(infinicclCommDestroy(nullptr));
}

TEST(test_a_rank_that_is_destroyed_ends_the_waiting_of_others)
{
    infinicclComm_t comms[2];
    float x = 1;
    EXPECT_DONE(infinicclCommInitAll(INFINI_DEVICE_CPU, comms, 2, nullptr));
    std::thread waits([&] {
        EXPECT_INFINI(infinicclAllReduce(&x, &x, 1, INFINI_DTYPE_F32, INFINICCL_SUM, comms[0], nullptr),
                      INFINI_STATUS_BAD_PARAM);
    });
    EXPECT_DONE(infinicclCommDestroy(comms[1]));
    waits.join();
    EXPECT_INFINI(infinicclCommDestroy(comms[1]), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinicclSend(&x, 1, INFINI_DTYPE_F32, 0, comms[1], nullptr), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinicclGroupStart((infinicclComm_t)&x), INFINI_STATUS_BAD_PARAM);
    EXPECT_DONE(infinicclCommDestroy(comms[0]));
}
