/* infiniccl.h - collectives among communicators.
 *
 * Ranks are communicators of one process on the CPU, each used by a thread of its own: a call returns when
 * all ranks have made it. Between infinicclGroupStart and infinicclGroupEnd calls only queue, and GroupEnd
 * waits for them; so one thread may serve several ranks. Buffers hold `count` elements, any alignment; they
 * may be the same (at the rank's own place where one is a part of the other). */
#ifndef INFINICCL_H
#define INFINICCL_H

#include "infinirt.h"

typedef enum {
    INFINICCL_SUM = 0,
    INFINICCL_PROD = 1,
    INFINICCL_MAX = 2,
    INFINICCL_MIN = 3,
    INFINICCL_AVG = 4,
} infinicclReduceOp_t;

struct InfinicclComm;
typedef struct InfinicclComm *infinicclComm_t;

#define INFINICCL_UNIQUE_ID_BYTES 128

typedef struct {
    char internal[INFINICCL_UNIQUE_ID_BYTES];
} infinicclUniqueId_t;

/* ndevice communicators of one group, rank i in comms[i]. */
__INFINI_C __export infiniStatus_t infinicclCommInitAll(infiniDevice_t device_type, infinicclComm_t *comms,
                                                        int ndevice, const int *device_ids);

/* The same one by one: whoever has the id joins, each rank once. */
__INFINI_C __export infiniStatus_t infinicclGetUniqueId(infinicclUniqueId_t *unique_id);
__INFINI_C __export infiniStatus_t infinicclCommInitRank(infinicclComm_t *comm, int nranks,
                                                         infinicclUniqueId_t comm_id, int rank);

/* Calls of other ranks that wait for this one fail. */
__INFINI_C __export infiniStatus_t infinicclCommDestroy(infinicclComm_t comm);

__INFINI_C __export infiniStatus_t infinicclGroupStart(infinicclComm_t comm);
__INFINI_C __export infiniStatus_t infinicclGroupEnd(infinicclComm_t comm);

__INFINI_C __export infiniStatus_t infinicclAllReduce(void *sendbuf, void *recvbuf, size_t count,
                                                      infiniDtype_t datatype, infinicclReduceOp_t op,
                                                      infinicclComm_t comm, infinirtStream_t stream);

__INFINI_C __export infiniStatus_t infinicclBroadcast(const void *sendbuf, void *recvbuf, size_t count,
                                                      infiniDtype_t datatype, int root, infinicclComm_t comm,
                                                      infinirtStream_t stream);

__INFINI_C __export infiniStatus_t infinicclSend(const void *sendbuf, size_t count, infiniDtype_t datatype,
                                                 int peer, infinicclComm_t comm, infinirtStream_t stream);
__INFINI_C __export infiniStatus_t infinicclRecv(void *recvbuf, size_t count, infiniDtype_t datatype,
                                                 int peer, infinicclComm_t comm, infinirtStream_t stream);

/* recvbuf: every rank's elements in order of ranks. V: rank i has counts[i] of them. */
__INFINI_C __export infiniStatus_t infinicclAllGather(void *sendbuf, void *recvbuf, size_t send_count,
                                                      infiniDtype_t datatype, infinicclComm_t comm,
                                                      infinirtStream_t stream);
__INFINI_C __export infiniStatus_t infinicclAllGatherV(void *sendbuf, void *recvbuf,
                                                       const size_t *recv_counts, int nranks,
                                                       infiniDtype_t datatype, infinicclComm_t comm,
                                                       infinirtStream_t stream);

/* Part i of what AllReduce would give, to rank i. V: the parts have counts[i] elements. */
__INFINI_C __export infiniStatus_t infinicclReduceScatter(void *sendbuf, void *recvbuf, size_t recv_count,
                                                          infiniDtype_t datatype, infinicclReduceOp_t op,
                                                          infinicclComm_t comm, infinirtStream_t stream);
__INFINI_C __export infiniStatus_t infinicclReduceScatterV(void *sendbuf, void *recvbuf,
                                                           const size_t *send_counts, int nranks,
                                                           infiniDtype_t datatype, infinicclReduceOp_t op,
                                                           infinicclComm_t comm, infinirtStream_t stream);

#endif
