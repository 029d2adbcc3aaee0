/* missing.cpp - the groups that programs look up and that are not implemented: all of them answer
 * INFINI_STATUS_NOT_IMPLEMENTED. No descriptor of theirs ever exists, so that asking for a workspace
 * and destroying fail as they do for any descriptor that is none. */
#include "op.h"

#define MISSING(Name, create_arguments, run_arguments) \
    infiniStatus_t infiniopCreate##Name##Descriptor create_arguments \
    { \
        return INFINI_STATUS_NOT_IMPLEMENTED; \
    } \
    infiniStatus_t infiniop##Name run_arguments { return INFINI_STATUS_NOT_IMPLEMENTED; }

using namespace face;

MISSING(ChunkGatedDeltaRule, (Handle, Desc *, T, T, T, T, T, T, T, T, T, T, T, bool, size_t),
        (Desc, P, size_t, P, P, P, C, C, C, C, C, C, C, C, P))
MISSING(RecurrentGatedDeltaRule, (Handle, Desc *, T, T, T, T, T, T, T, T, T, T, bool),
        (Desc, P, size_t, P, P, P, C, C, C, C, C, C, C, P))
MISSING(NsaCompressPagedCache, (Handle, Desc *, T, T, T, T, T, T, int, int),
        (Desc, P, size_t, P, P, C, C, C, C, P))
MISSING(NsaPagedAttention, (Handle, Desc *, T, T, T, T, T, T, T, T, T, float, int, int, int),
        (Desc, P, size_t, P, C, C, C, C, C, C, C, C, P))
MISSING(AwqMarlinGemm, (Handle, Desc *, T, T, T, T, T, T, T, T, T, T),
        (Desc, P, size_t, P, C, C, P, P, P, P, P, P, P, int64_t, bool, bool, bool, bool, P))
MISSING(AwqMarlinRepack, (Handle, Desc *, T, T, int64_t, bool), (Desc, P, size_t, P, C, P))
MISSING(GptqMarlinGemm, (Handle, Desc *, T, T, T, T, T, T, T, T),
        (Desc, P, size_t, P, C, C, P, P, P, P, P, int64_t, bool, bool, bool, bool, P))
MISSING(GptqMarlinRepack, (Handle, Desc *, T, T, T, int64_t, bool), (Desc, P, size_t, P, C, C, P))
MISSING(GptqQyblasGemm, (Handle, Desc *, T, T, T, T, T),
        (Desc, P, size_t, P, C, C, P, P, int64_t, int64_t, P))
MISSING(CausalConv1d, (Handle, Desc *, T, T, T, T, T, T, T, T, T),
        (Desc, P, size_t, P, P, P, C, C, C, C, C, C, P))
MISSING(FlashAttention, (Handle, Desc *, T, T, T, T, T, float, char), (Desc, P, size_t, P, C, C, C, C, P))
MISSING(Fp8IndexerLogits, (Handle, Desc *, T, T, T, T, T, T, T), (Desc, P, C, C, C, C, C, C, P))
MISSING(Fp8IndexerQuant, (Handle, Desc *, T, T, T, T), (Desc, P, P, C, C, P))
MISSING(Fp8MlaRmsnormCache, (Handle, Desc *, T, T, T, T, T, T, double), (Desc, P, P, C, C, C, C, P))
MISSING(Fp8SparseMla, (Handle, Desc *, T, T, T, T, T, float), (Desc, P, size_t, P, C, C, C, C, P))
MISSING(FusedFp8Indexer, (Handle, Desc *, T, T, T, T, T, T, T, T, T, T, uint64_t, double, double),
        (Desc, P, P, P, C, C, C, C, C, C, C, P))
MISSING(FusedMoeMxfp4, (Handle, Desc *, T, T, T, T, T, T, T, T, infiniopFusedMoeActivation_t),
        (Desc, P, size_t, P, C, C, C, C, C, C, C, P))
MISSING(KimiDeltaAttention, (Handle, Desc *, T, T, T, T, T, T, T, T, T, T, T, T, T, float, float, bool),
        (Desc, P, size_t, P, P, P, C, C, C, C, C, C, C, C, C, C, P))
MISSING(LinearMxfp4, (Handle, Desc *, T, T, T, T, T, float), (Desc, P, size_t, P, C, C, C, C, P))
MISSING(MambaSelectiveScan, (Handle, Desc *, T, T, T, T, T, T, T, T, T, T),
        (Desc, P, size_t, P, C, C, C, C, C, C, C, C, P, P))
MISSING(MoeAlign, (Handle, Desc *, T, T, T, T, size_t, size_t), (Desc, P, size_t, P, P, P, C, C, int, P))
MISSING(MoeFusedDense, (Handle, Desc *, T, T, T, T, T, T, T, T, T),
        (Desc, P, size_t, P, C, C, C, C, C, C, C, C, P))
MISSING(MoeFusedGate, (Handle, Desc *, T, T, T, T, size_t, size_t, size_t, float, bool),
        (Desc, P, size_t, P, P, C, C, P))
MISSING(PrepareMoeInput, (Handle, Desc *, T, T, T, T, T, T, T, size_t, size_t, size_t),
        (Desc, P, size_t, P, P, P, P, P, P, C, P))
MISSING(Rwkv5Wkv, (Handle, Desc *, T, T, T, T, T, T, T), (Desc, P, size_t, P, C, C, C, C, C, P, P))
