#!/usr/bin/env python3
"""Files and DLPack against NumPy, safetensors, gguf, PyTorch, onnx, Pillow and h5py; tools/check_files.sh
runs it.

    check_files.py build/lib/libtessera.so

Arrays come and go through DLPack, so that every file test is one of DLPack as well.
"""
import ctypes as c
import glob
import os
import sys
import tempfile

import gguf
import numpy as np
import safetensors.numpy

lib = c.CDLL(sys.argv[1])
lib.tsr_last_error.restype = c.c_char_p
lib.tsr_file_size.restype = c.c_uint64
lib.tsr_file_count.restype = c.c_int64

api = c.pythonapi
api.PyCapsule_New.restype = c.py_object
api.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]
api.PyCapsule_GetPointer.restype = c.c_void_p
api.PyCapsule_GetPointer.argtypes = [c.py_object, c.c_char_p]
api.PyCapsule_SetName.argtypes = [c.py_object, c.c_char_p]

VERSIONED, LEGACY = b"dltensor_versioned", b"dltensor"
failures = checks = 0


def expect(ok, what):
    global failures, checks
    checks += 1
    if not ok:
        failures += 1
        if failures <= 20:
            print(f"FAILED {what} ({lib.tsr_last_error().decode()})")


def must(status):
    if status != 0:
        raise RuntimeError(lib.tsr_last_error().decode())


class Tensor:
    """A tsr_tensor *, which NumPy can look at."""

    def __init__(self, pointer):
        self.pointer = pointer

    @classmethod
    def of(cls, array, legacy=False):
        """The same memory as an array: takes what __dlpack__ gives."""
        name = LEGACY if legacy else VERSIONED
        capsule = array.__dlpack__() if legacy else array.__dlpack__(max_version=(1, 0))
        managed = c.c_void_p(api.PyCapsule_GetPointer(capsule, name))
        t = c.c_void_p()
        must((lib.tsr_from_dlpack_legacy if legacy else lib.tsr_from_dlpack)(c.byref(t), managed))
        name = c.c_char_p(b"used_" + name)
        kept.append(name)  # a capsule keeps the address of its name
        api.PyCapsule_SetName(capsule, name)
        return cls(t)

    def __dlpack__(self, *, max_version=None, **_):
        managed = c.c_void_p()
        if max_version and max_version[0] >= 1:
            must(lib.tsr_to_dlpack(c.byref(managed), self.pointer, None))
            return api.PyCapsule_New(managed, VERSIONED, None)
        must(lib.tsr_to_dlpack_legacy(c.byref(managed), self.pointer, None))
        return api.PyCapsule_New(managed, LEGACY, None)

    def __dlpack_device__(self):
        return (1, 0)

    def __del__(self):
        lib.tsr_release(c.byref(self.pointer))

    def numpy(self):
        return np.from_dlpack(self)


kept = []


class File:
    def __init__(self, path):
        self.pointer = c.c_void_p()
        must(lib.tsr_file_open(c.byref(self.pointer), path.encode(), None))

    def tensor(self, name):
        t = c.c_void_p()
        must(lib.tsr_file_read(c.byref(t), self.pointer, name.encode()))
        return Tensor(t)

    def __getitem__(self, name):
        return self.tensor(name).numpy()

    def __del__(self):
        lib.tsr_file_close(c.byref(self.pointer))


class WriterOpts(c.Structure):
    _fields_ = [("format", c.c_char_p), ("compress", c.c_bool), ("no_sync", c.c_bool),
                ("shard_bytes", c.c_uint64), ("quality", c.c_int)]


def write(path, arrays, compress=False, encodings=None):
    w = c.c_void_p()
    must(lib.tsr_writer_create(c.byref(w), path.encode(), c.byref(WriterOpts(None, compress, True))))
    for name, array in arrays.items():
        encoding = (encodings or {}).get(name)
        t = Tensor.of(array)
        must(lib.tsr_writer_add(w, name.encode(), t.pointer, encoding))
    must(lib.tsr_writer_finish(c.byref(w)))


DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def layouts(dtype, random):
    """Arrays of a dtype in many shapes and strides."""
    base = random.integers(0, 256, 4 * 6 * 8 * np.dtype(dtype).itemsize, dtype="u1")
    base = (base % 2).astype("?") if dtype == "?" else base.view(dtype)
    a = base[: 4 * 6 * 8].reshape(4, 6, 8)
    return [a, a[::2, :, ::-1], a.transpose(2, 0, 1), np.asfortranarray(a), a[1, 2, 3, ...], a[:, :0],
            a[::-1, 3:4, 1::3], np.broadcast_to(a[:, :1], a.shape), a.reshape(-1)]


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def share():
    random = np.random.default_rng(1)
    for dtype in DTYPES:
        for i, a in enumerate(layouts(dtype, random)):
            what = f"dlpack {dtype} {a.shape} {a.strides}"
            back = Tensor.of(a).numpy()
            expect(same(a, back), what)
            expect(a.size == 0 or a.ctypes.data == back.ctypes.data, what + " shares memory")
            expect(a.size < 2 or a.flags.writeable == back.flags.writeable,
                   what + " may be written as before")
            if a.flags.writeable:
                expect(same(a, Tensor.of(a, legacy=True).numpy()), what + " legacy")
    a = np.arange(6.0)
    a.flags.writeable = False
    t = Tensor.of(a)
    expect(lib.tsr_zero(t.pointer) != 0 and b"read-only" in lib.tsr_last_error(),
           "a read-only array is not written")
    expect(not t.numpy().flags.writeable, "a read-only array stays so")
    b = np.arange(6.0)
    view = Tensor.of(b).numpy()
    view[2] = 99
    expect(b[2] == 99, "writes go through")
    del b
    expect(view[2] == 99 and view[5] == 5, "memory outlives its first owner")


def share_torch():
    try:
        import torch
    except ImportError:
        print("no torch: not tried")
        return
    for dtype in (torch.bool, torch.uint8, torch.int16, torch.int64, torch.float16, torch.bfloat16,
                  torch.float32, torch.complex64):
        a = torch.arange(24).reshape(2, 3, 4).to(dtype)
        for x in (a, a.transpose(0, 2), a[:, ::2], a[0, 1, 2], a.expand(5, 2, 3, 4)):
            back = torch.from_dlpack(Tensor.of(x))
            expect(torch.equal(back, x) and back.data_ptr() == x.data_ptr(),
                   f"torch {dtype} {tuple(x.shape)}")


def checkpoints(folder):
    """What torch.save writes: every dtype, strides of all kinds, nested, tied, of both protocols."""
    try:
        import torch
    except ImportError:
        print("no torch: checkpoints are not tried")
        return
    path = os.path.join(folder, "x.pt")
    for protocol, zipped in ((2, True), (4, True), (2, False)):
        kept = {}
        for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
                      torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
                      torch.complex128, torch.uint16, torch.uint32, torch.uint64):
            a = torch.arange(24).reshape(2, 3, 4).to(dtype)
            views = (a, a.transpose(0, 2), a[:, ::2], a[0, 1, 2], a.expand(5, 2, 3, 4), a[:, :0],
                     a[1:, 1:, 1:], a.reshape(-1))
            kept[str(dtype)] = dict(enumerate(views))
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3),
                                    torch.nn.BatchNorm2d(4)).to(memory_format=torch.channels_last)
        torch.save({"all": kept, "model": model.state_dict(), "step": 7}, path, pickle_protocol=protocol,
                   _use_new_zipfile_serialization=zipped)
        f = File(path)
        for dtype, views in kept.items():
            for i, x in views.items():
                back = torch.from_dlpack(f.tensor(f"all.{dtype}.{i}"))
                same = (back.dtype == x.dtype and back.shape == x.shape and
                        torch.equal(back.clone(), x.clone()))
                expect(same, f"checkpoint {dtype} {tuple(x.shape)} {x.stride()}")
                expect(x.numel() < 2 or min(x.shape) < 2 or back.stride() == x.stride(),
                       f"strides of {dtype} {i}")
        for name, x in model.state_dict().items():
            expect(torch.equal(torch.from_dlpack(f.tensor("model." + name)), x), f"checkpoint {name}")


def models(folder):
    """What the onnx package writes: raw bytes, numbers, bytes beside the model."""
    try:
        import onnx
        import onnx.numpy_helper
    except ImportError:
        print("no onnx: models are not tried")
        return
    random = np.random.default_rng(6)
    arrays = {f"{d}.{i}": np.ascontiguousarray(a) for d in DTYPES for i, a in enumerate(layouts(d, random))}
    arrays = {k: np.nan_to_num(a) for k, a in arrays.items()}
    for kind in ("raw", "numbers", "external"):
        path = os.path.join(folder, "x.onnx")
        tensors = [onnx.numpy_helper.from_array(a, name=k) for k, a in arrays.items()]
        if kind == "numbers":
            tensors = [onnx.helper.make_tensor(k, t.data_type, a.shape, a.reshape(-1))
                       for (k, a), t in zip(arrays.items(), tensors)]
        model = onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], tensors))
        onnx.save(model, path, save_as_external_data=kind == "external", location="x.onnx_data",
                  size_threshold=0)
        f = File(path)
        for name, a in arrays.items():
            expect(same(a, f[name].reshape(a.shape)), f"onnx {kind} {name}")


def constants(folder):
    """Constants of nodes, in the graph and in the graphs of its nodes."""
    try:
        import onnx
        from onnx import helper
    except ImportError:
        return
    path = os.path.join(folder, "c.onnx")
    a = np.arange(6, dtype="f2").reshape(2, 3)
    want = {"t": a, "f": np.array(2.5, "f4"), "i": np.array(-7, "i8"), "fs": np.array([1.5, -2], "f4"),
            "is": np.array([3, -1, 1 << 40], "i8")}
    given = {"t": {"value": onnx.numpy_helper.from_array(a)}, "f": {"value_float": 2.5},
             "i": {"value_int": -7}, "fs": {"value_floats": [1.5, -2.0]},
             "is": {"value_ints": [3, -1, 1 << 40]}}
    nodes = [helper.make_node("Constant", [], [k], name="node_" + k, **v) for k, v in given.items()]
    branch = lambda n: helper.make_graph([helper.make_node("Constant", [], ["x"], value_float=n)], "b", [],
                                         [], [onnx.numpy_helper.from_array(a * 2, "w")])
    nodes.append(helper.make_node("If", ["t"], ["y"], name="if", then_branch=branch(1.0),
                                  else_branch=branch(2.0)))
    sparse = helper.make_sparse_tensor(onnx.numpy_helper.from_array(np.ones(1, "f4"), "v"),
                                       onnx.numpy_helper.from_array(np.zeros(1, "i8"), "p"), [4])
    nodes.append(helper.make_node("Constant", [], ["sparse"], sparse_value=sparse))
    nodes.append(helper.make_node("Constant", [], ["words"], value_string="text"))
    graph = helper.make_graph(nodes, "g", [], [], [onnx.numpy_helper.from_array(a, "w")])
    onnx.save(helper.make_model(graph), path)
    want |= {"w": a, "if.then_branch.x": np.array(1, "f4"), "if.else_branch.x": np.array(2, "f4"),
             "if.then_branch.w": a * 2}
    f = File(path)
    for name, x in want.items():
        expect(same(x, f[name]), f"onnx constant {name}")
    expect(lib.tsr_file_count(f.pointer) == len(want) + 2, "onnx constants are counted")
    try:
        f["sparse"]
        expect(False, "onnx sparse constant")
    except RuntimeError as error:
        expect("SPARSE" in str(error), "onnx sparse constant in words")


def photographs(folder):
    """Pillow's JPEG here, and ours there; both are libjpeg-turbo's pixels."""
    try:
        from PIL import Image
    except ImportError:
        print("no Pillow: JPEG is not tried")
        return
    random = np.random.default_rng(7)
    path = os.path.join(folder, "x.jpg")
    for shape in ((48, 64), (48, 64, 3), (17, 9, 3), (1, 1)):
        smooth = random.integers(0, 256, shape).cumsum(0).cumsum(1) // 16 % 256
        a = smooth.astype("u1")
        for options in ({}, {"progressive": True}, {"quality": 30}):
            Image.fromarray(a).save(path, **options)
            try:
                got = File(path)[""]
            except RuntimeError as error:
                print(f"JPEG is not tried: {error}")
                return
            want = np.asarray(Image.open(path)).astype(int)
            expect(got.shape == want.shape and np.abs(got.astype(int) - want).max() <= 2,
                   f"jpeg read {shape} {options}")
        write(path, {"": a})
        back = np.asarray(Image.open(path)).astype(int)
        expect(back.shape == a.shape and np.abs(back - File(path)[""].astype(int)).max() <= 2,
               f"jpeg written {shape}")


def images(folder):
    """Pillow's PNG and PNM here, and ours there."""
    try:
        from PIL import Image
    except ImportError:
        print("no Pillow: PNG and PNM are not tried")
        return
    random = np.random.default_rng(10)
    for kind, shapes in (("png", ((5, 7), (5, 7, 2), (5, 7, 3), (5, 7, 4))), ("pgm", ((5, 7),)),
                         ("ppm", ((5, 7, 3),))):
        for shape in shapes:
            path = os.path.join(folder, "x." + kind)
            a = random.integers(0, 256, shape, dtype="u1")
            Image.fromarray(a, "LA" if shape[2:] == (2,) else None).save(path)
            expect(same(a, File(path)[""]), f"{kind} read {shape}")
            write(path, {"": a})
            expect(same(a, np.asarray(Image.open(path))), f"{kind} written {shape}")
        if kind != "ppm":
            wide = random.integers(0, 65536, (6, 9), dtype="u2")
            Image.fromarray(wide).save(path)
            expect(same(wide, File(path)[""]), f"{kind} read u2")
            write(path, {"": wide})
            expect(same(wide, np.asarray(Image.open(path)).astype("u2")), f"{kind} written u2")
    for mode in ("1", "P"):
        path = os.path.join(folder, "m.png")
        Image.fromarray(random.integers(0, 256, (9, 11), dtype="u1")).convert(mode).save(path)
        want = np.asarray(Image.open(path).convert("L" if mode == "1" else "RGB"))
        got = File(path)[""]
        equal = np.array_equal(got > 0, want > 0) if mode == "1" else np.array_equal(got, want)
        expect(got.shape == want.shape and equal, f"png read mode {mode}")


def hdf5_layouts(h5py):
    """Options of create_dataset: every layout and filter that is read."""
    chunked = {"chunks": True}
    packed = {"compression": "gzip", "shuffle": True, "fletcher32": True}
    return [{}, chunked, {"compression": "gzip"}, {"shuffle": True}, {"fletcher32": True}, packed,
            {**packed, "chunks": "small"}, {"chunks": "small"}, {"chunks": "whole"},
            {**packed, "chunks": "whole"}, {**packed, "chunks": "small", "maxshape": "free"},
            {"chunks": "small", "maxshape": "free"}, {**packed, "chunks": "small", "maxshape": "last free"},
            {"chunks": "small", "maxshape": "first free"},
            {"chunks": "small", "maxshape": "room", "compression": "lzf"}]


def create(group, name, a, options):
    options = dict(options) if a.ndim and a.size else {}
    if options.get("chunks") == "small":
        options["chunks"] = tuple(max(1, n // 3) for n in a.shape)
    if options.get("chunks") == "whole":
        options["chunks"] = a.shape
    most = {"free": (None,) * a.ndim, "last free": (*(n + 2 for n in a.shape[:-1]), None),
            # a tree, arrays that grow, and one of fixed size that is not full
            "first free": (None, *a.shape[1:]), "room": tuple(2 * n for n in a.shape)}
    options["maxshape"] = most.get(options.get("maxshape"))
    group.create_dataset(name, data=a, **options)


def hierarchies_read(folder, h5py):
    """What h5py writes, in every version, layout and filter, few and many links, and what is not written."""
    random = np.random.default_rng(8)
    arrays = {f"{d.replace('?', 'b')}/{i}": a for d in DTYPES for i, a in enumerate(layouts(d, random))}
    path = os.path.join(folder, "x.h5")
    for version in ("earliest", "v108", "latest"):
        for options in hdf5_layouts(h5py):
            with h5py.File(path, "w", libver=version, userblock_size=512 if "chunks" in options else 0,
                           track_order=len(options) == 1) as f:
                for name, a in arrays.items():
                    create(f, name, a, options)
            f = File(path)
            for name, a in arrays.items():
                expect(same(a, f[name]), f"hdf5 read {version} {name} {options}")
        with h5py.File(path, "w", libver=version) as f:
            for i in range(3000):
                f[f"many/{i}"] = np.int16(i)
            f.create_dataset("long", data=np.arange(70000), chunks=(7,))
            f.create_dataset("growing", data=np.arange(140000 if version == "latest" else 7) % 251,
                             dtype="u1", chunks=(1,), maxshape=(None,))
            f.create_dataset("empty", (40, 3), "f4", fillvalue=2.5)
            f.create_dataset("sparse", (4000, 3), "i2", chunks=(1, 2), fillvalue=-7,
                             compression="gzip")[1234] = 5
            f["big"] = np.arange(6, dtype=">c16")
            for i in range(2000):
                f[f"other names/{i}"] = f["big"]
            f["named type"] = np.dtype("u2")
            f.create_dataset("of a named type", data=np.arange(5, dtype="u2"), dtype=f["named type"])
            want = {k: f[k][...] for k in ("long", "growing", "empty", "sparse", "of a named type")}
        f = File(path)
        expect(lib.tsr_file_count(f.pointer) == 5006, f"hdf5 count {version}")
        for i in range(0, 3000, 7):
            expect(f[f"many/{i}"] == i, f"hdf5 many {version} {i}")
        for name, a in want.items():
            expect(same(a, f[name]), f"hdf5 read {version} {name}")
        expect(np.array_equal(f["big"], np.arange(6)), f"hdf5 big-endian {version}")


def hierarchies(folder):
    """h5py's files here, and ours there."""
    try:
        import h5py
    except ImportError:
        print("no h5py: HDF5 is not tried")
        return
    hierarchies_read(folder, h5py)
    random = np.random.default_rng(9)
    arrays = {f"{d.replace('?', 'b')}/{i}": a for d in DTYPES for i, a in enumerate(layouts(d, random))}
    arrays |= {"two levels": np.repeat(np.arange(70, dtype="u1"), 1 << 20),
               "tall": random.integers(0, 9, (70000, 200), dtype="i1"),
               "deep": random.integers(0, 9, (3, 2, 1500000), dtype="i1"),
               **{f"many/{i}": np.int32(i) for i in range(3000)}}
    path = os.path.join(folder, "y.h5")
    for compressed in (False, True):
        write(path, {k: np.asarray(a) for k, a in arrays.items()}, compressed)
        with h5py.File(path) as f:
            for name, a in arrays.items():
                expect(same(np.asarray(a), np.asarray(f[name])), f"hdf5 written {name} {compressed}")


def npy(folder):
    random = np.random.default_rng(2)
    for dtype in DTYPES:
        for i, a in enumerate(layouts(dtype, random)):
            path = os.path.join(folder, "x.npy")
            np.save(path, a)
            expect(same(a, File(path)[""]), f"npy read {dtype} {i}")
            write(path, {"": a})
            expect(same(a, np.load(path)), f"npy written {dtype} {i}")
        if np.dtype(dtype).itemsize > 1:
            big = layouts(dtype, random)[2].astype(np.dtype(dtype).newbyteorder(">"))
            np.save(path, big)
            expect(same(big.astype(dtype), File(path)[""]), f"npy big-endian {dtype}")


def npz(folder):
    random = np.random.default_rng(3)
    arrays = {f"{d}.{i}": a for d in DTYPES if d != "?" for i, a in enumerate(layouts(d, random))}
    arrays["flags"] = layouts("?", random)[1]
    path = os.path.join(folder, "x.npz")
    for compress in (False, True):
        (np.savez_compressed if compress else np.savez)(path, **arrays)
        f = File(path)
        for name, a in arrays.items():
            expect(same(a, f[name]), f"npz read {name} {compress}")
        write(path, arrays, compress)
        with np.load(path) as f:
            expect(set(f.files) == set(arrays), "npz names")
            for name, a in arrays.items():
                expect(same(a, f[name]), f"npz written {name} {compress}")


def tensors(folder):
    random = np.random.default_rng(4)
    arrays = {f"{d}.{i}": a for d in DTYPES if d not in ("c8", "c16")
              for i, a in enumerate(layouts(d, random))}
    path = os.path.join(folder, "x.safetensors")
    safetensors.numpy.save_file({k: np.ascontiguousarray(a) for k, a in arrays.items()}, path)
    f = File(path)
    for name, a in arrays.items():
        expect(a.ndim == 0 or same(a, f[name]), f"safetensors read {name}")
    write(path, arrays)
    back = safetensors.numpy.load_file(path)
    expect(set(back) == set(arrays), "safetensors names")
    for name, a in arrays.items():
        expect(same(a, back[name]), f"safetensors written {name}")


def blocks(folder):
    random = np.random.default_rng(5)
    values = (random.random((4, 512)) * 6 - 3).astype("f4")
    values[1, :64] = 0
    path = os.path.join(folder, "x.gguf")
    w = gguf.GGUFWriter(path, "test")
    kinds = [gguf.GGMLQuantizationType[k]
             for k in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "F16", "BF16", "F32")]
    for kind in kinds:
        w.add_tensor(kind.name, gguf.quantize(values, kind), raw_dtype=kind)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    f = File(path)
    for kind in kinds:
        want = gguf.dequantize(gguf.quantize(values, kind), kind)
        if kind.name != "BF16":  # which NumPy has not
            expect(np.array_equal(f[kind.name].astype("f4"), want), f"gguf read {kind.name}")
    arrays = {"values": values, "halves": values.astype("f2"), "bytes": np.arange(-8, 8, dtype="i1"),
              "q8_0": values, "q4_0": values, "bf16": values, "f16": values}
    write(path, arrays, encodings={k: k.encode() for k in ("q8_0", "q4_0", "bf16", "f16")})
    for t in gguf.GGUFReader(path).tensors:
        a = arrays[t.name]
        want = gguf.quantize(a, t.tensor_type) if t.name in ("q8_0", "q4_0", "bf16", "f16") else a
        expect(np.array_equal(np.asarray(t.data).reshape(-1).view("u1"),
                              np.ascontiguousarray(want).reshape(-1).view("u1")),
               f"gguf written {t.name}")


with tempfile.TemporaryDirectory() as work:
    share()
    share_torch()
    checkpoints(work)
    models(work)
    constants(work)
    photographs(work)
    images(work)
    hierarchies(work)
    npy(work)
    npz(work)
    tensors(work)
    blocks(work)
print(f"{checks - failures} passed, {failures} failed, 0 skipped")
sys.exit(failures != 0)
