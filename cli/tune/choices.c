/* choices.c - what bench --tune compares, and by which workloads. */
#include "tune.h"

#define NEVER "9223372036854775807"

/* Limits of what is computed from the last level cache: all of them at once. */
#define STREAM_FROM(bytes) "stream_least=" bytes ",stream_usual=" bytes ",stream_most=" bytes
#define RESIDENT(bytes) "resident_least=" bytes ",resident_usual=" bytes ",resident_most=" bytes

/* In the order in which they are made: what is chosen early counts for those that follow. */
const choice choices[] = {
    { { "b.add.f32.16M", "a.copy.f32.8192" }, { "stream_bytes=32", "stream_bytes=64" }, false },
    { { "b.add.f32.16M", "b.fma.f32.16M", "a.copy.f32.8192" },
      { "stream_pages=1", "stream_pages=2", "stream_pages=4", "stream_pages=8" }, false },
    { { "b.add.f32.16M", "a.copy.f32.8192", "b.cast.f32.f16.16M" },
      { "copy_ahead=0", "copy_ahead=1024", "copy_ahead=4096", "copy_ahead=8192" }, false },
    { { "h.add_sum.f32.1M", "h.add_sum.f32.16M" },
      { STREAM_FROM("4194304"), STREAM_FROM("8388608"), STREAM_FROM("16777216"), STREAM_FROM("67108864"),
        STREAM_FROM(NEVER) }, false },
    { { "a.T.f32.1000", "a.T.f32.2000", "a.T.f32.4096" },
      { "stream_transposed=1048576", "stream_transposed=6291456", "stream_transposed=25165824",
        "stream_transposed=" NEVER }, false },
    { { "b.add.f32.1M", "a.slice_inner.f32.2000" },
      { "result_least=" NEVER ",result_ahead=0", "result_least=16384,result_ahead=512",
        "result_least=16384,result_ahead=1024", "result_least=16384,result_ahead=4096" }, false },
    { { "c.sum.all.f32.4096x4096", "c.max.ax1.f32.4096x4096", "c.argmax.all.f32.4096x4096" },
      { "reads_apart=0,run_ahead=0", "reads_apart=0,run_ahead=1024", "reads_apart=1,run_ahead=1024",
        "reads_apart=1,run_ahead=4096" }, false },
    { { "c.sum.ax0.f32.4096x4096", "c.sum.ax1.f32.1000000x8" },
      { "column_ahead=0", "column_ahead=1024", "column_ahead=4096" }, false },
    { { "c.cumsum.flat.f32.4096x4096", "c.cumsum.ax1.f32.4096x4096" },
      { "scan_ahead=0", "scan_ahead=1024", "scan_ahead=4096", "scan_ahead=8192" }, false },
    { { "g.pad.f32.32x64x56x56.p1" },
      { "row_ahead=0", "row_ahead=1024", "row_ahead=4096", "row_ahead=8192" }, false },
    { { "e.maxpool2x2.f32.32x64x56x56" },
      { "pool_ahead=0", "pool_ahead=2048", "pool_ahead=8192", "pool_ahead=16384" }, false },
    { { "b.add.f32.16M.alloc" }, { "system.huge_least=2097152", "system.huge_least=" NEVER }, false },

    { { "d.mm.f32.256", "d.mm.f32.1024" },
      { RESIDENT("131072"), RESIDENT("262144"), RESIDENT("524288"), RESIDENT("1048576") }, false },
    { { "s.mm.f32.192", "d.mm.f32.256", "s.mm.f32.320" },
      { "products.cached_bytes=65536", "products.cached_bytes=262144", "products.cached_bytes=524288",
        "products.cached_bytes=1048576" }, false },
    { { "d.mm.f32.512", "d.mm.f32.1024" },
      { "products.tile_rows=128", "products.tile_rows=256", "products.tile_rows=512" }, false },
    { { "d.mm_tn.f32.1024", "d.mm_tt.f32.1024" },
      { "products.chunk=512", "products.chunk=1024", "products.chunk=2048", "products.chunk=4096" }, false },
    { { "d.mm.f32.2000x16x2000" },
      { "products.short_k=0", "products.short_k=16", "products.short_k=64", "products.short_k=256" }, false },
    { { "d.mm.f32.2000x16x2000", "d.mm.f32.1000000x8x8" },
      { "products.stream_ahead=0,products.stream_bytes=0",
        "products.stream_ahead=2048,products.stream_bytes=256",
        "products.stream_ahead=2048,products.stream_bytes=1024",
        "products.stream_ahead=8192,products.stream_bytes=1024" }, false },
    { { "d.gemv.f32.1x4096x4096", "d.gemv_nt.f32.1x4096x4096" },
      { "products.vector_ahead=0", "products.vector_ahead=64", "products.vector_ahead=128",
        "products.vector_ahead=512" }, false },

    { { "e.conv2d.f32.1x64x56x56.k3" },
      { "conv.windows_copy=163840", "conv.windows_copy=348160", "conv.windows_copy=696320" }, false },
    { { "e.conv2d_nhwc.f32.32x64x56x56.k3" },
      { "conv.tiles_copy=153600", "conv.tiles_copy=307200", "conv.tiles_copy=614400" }, false },
    { { "e.conv2d_nhwc.f32.32x64x56x56.k3" }, { "conv.band=112", "conv.band=224", "conv.band=448" }, false },

    { { "g.gather.f32.50257x768.4096", "g.scatter_add.f32.50257x768.4096" },
      { "indexing.along=0", "indexing.along=1024", "indexing.along=4096" }, false },
    { { "g.gather.f32.50257x768.4096", "g.scatter_add.f32.50257x768.4096" },
      { "indexing.line_ahead=256", "indexing.line_ahead=1024", "indexing.line_ahead=2048",
        "indexing.line_ahead=4096" }, false },
    { { "g.gather.f32.50257x768.4096" },
      { "indexing.alternated=8192", "indexing.alternated=32768", "indexing.alternated=65536" }, false },

    { { "a.slice_inner.f32.2000", "g.concat64.ax1.f32.1024x1024", "s.copy.f32.1024" },
      { "copies.long_run=1024", "copies.long_run=4096", "copies.long_run=16384" }, false },
    { { "a.bcast_row.f32.4096x4096" },
      { "copies.repeated=8192", "copies.repeated=16384", "copies.repeated=32768" }, false },
    { { "a.rev6.f32.3x4x50x50x5x7", "a.nchw2nhwc.f32.32x64x56x56" },
      { "copies.list_ahead=0", "copies.list_ahead=192", "copies.list_ahead=512" }, false },
    { { "c.softmax.f32.4096x4096", "c.layernorm.f32.4096x4096" },
      { "lanes.next_row=0", "lanes.next_row=65536", "lanes.next_row=262144" }, false },

    { { "s.add.f32.65536", "s.sum.f32.262144", "d.mm.f32.128" },
      { "thread_work=65536", "thread_work=131072", "thread_work=262144", "thread_work=524288",
        "thread_work=1048576" }, true },
    { { "s.add.f32.262144", "d.mm.f32.256" },
      { "system.spin_ns=0", "system.spin_ns=2000", "system.spin_ns=8000", "system.spin_ns=32000" }, true },
    { { "d.mm.f32.512", "d.mm.f32.1024" },
      { "products.region_m=0", "products.region_m=512", "products.region_m=1024" }, true },
    { { "g.sort.f32.1M" },
      { "lanes.sort_shared=32768", "lanes.sort_shared=131072", "lanes.sort_shared=4194304" }, true },
};

const int nchoices = (int)(sizeof choices / sizeof *choices);
