#!/usr/bin/env python3
"""Writes tests/data/files: small files of every format, made by other programs.

Needs numpy, safetensors, gguf, torch, onnx, h5py and pillow. The
tests read the files and know by formula, or from
quant.npz, what must come out; the fuzzers begin from them.
"""
import json
import os
import struct
import zipfile
import zlib

import gguf
import h5py
import numpy as np
import onnx
import torch
from PIL import Image
from safetensors.numpy import save_file

FOLDER = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "files")


def path(name):
    return os.path.join(FOLDER, name)


def counted(dtype):
    """0, 1, ... 23 as (2, 3, 4); every other one of a bool is true."""
    a = np.arange(24).reshape(2, 3, 4)
    return (a % 2).astype(bool) if dtype == "bool" else a.astype(dtype)


DTYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def npy():
    for version in (1, 2, 3):
        with open(path(f"v{version}.npy"), "wb") as f:
            np.lib.format.write_array(f, counted("f8"), version=(version, 0))
    np.save(path("fortran.npy"), np.asfortranarray(counted("f4")))
    np.save(path("big.npy"), counted(">i4"))
    np.save(path("big_complex.npy"), counted(">c16"))
    np.save(path("scalar.npy"), np.float64(2.5))
    np.save(path("empty.npy"), np.zeros((3, 0, 2), "i2"))
    np.save(path("text.npy"), np.array(["abc", "de"]))
    np.save(path("record.npy"), np.zeros(2, [("a", "i4"), ("b", "f4")]))
    arrays = {d: counted(d) for d in DTYPES}
    arrays["fortran"] = np.asfortranarray(counted("f4"))
    arrays["big"] = counted(">i2")
    np.savez(path("stored.npz"), **arrays)
    np.savez_compressed(path("deflated.npz"), **arrays, zeros=np.zeros((64, 64), "f4"))


def safetensors():
    names = {d: counted(d) for d in DTYPES if d not in ("c8", "c16")}
    save_file(names, path("tensors.safetensors"),
              metadata={"made by": "numpy", "note": "a \"quote\"\nand é"})
    save_file({"a": counted("f4"), "b": counted("i8")}, path("set-00001-of-00002.safetensors"))
    save_file({"c": counted("u1")}, path("set-00002-of-00002.safetensors"))
    index = {"metadata": {"total_size": 312, "kind": "test"},
             "weight_map": {"a": "set-00001-of-00002.safetensors", "b": "set-00001-of-00002.safetensors",
                            "c": "set-00002-of-00002.safetensors"}}
    with open(path("set.safetensors.index.json"), "w") as f:
        json.dump(index, f, indent=2)


HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82],
          "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ2_XXS": [0],
          "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64], "MXFP4": []}


def quantised():
    random = np.random.default_rng(1)
    writer = gguf.GGUFWriter(path("quant.gguf"), "test")
    for key, kind in (("u8", "uint8"), ("i8", "int8"), ("u16", "uint16"), ("i16", "int16"), ("u32", "uint32"),
                      ("i32", "int32"), ("u64", "uint64"), ("i64", "int64")):
        getattr(writer, "add_" + kind)("a." + key, 100)
    writer.add_float32("a.f32", 0.5)
    writer.add_float64("a.f64", 0.25)
    writer.add_bool("a.bool", True)
    writer.add_string("a.text", "héllo")
    writer.add_array("a.numbers", [1, 2, 3])
    writer.add_array("a.texts", ["x", "yz", ""])
    writer.add_array("a.lists", [[1, 2], [3]])
    expected = {}
    for name, places in HALVES.items():
        kind = gguf.GGMLQuantizationType[name]
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (2, 256 // elements, size), dtype=np.uint8)
        for at in places:
            scales = (random.random(blocks.shape[:2]) - 0.5).astype("<f2")
            blocks[:, :, at:at + 2] = scales[..., None].view(np.uint8)
        data = blocks.reshape(2, -1)
        writer.add_tensor(name.lower(), data, raw_dtype=kind)
        if name != "IQ2_XXS":
            expected[name.lower()] = gguf.dequantize(data, kind)
    for dtype in ("f4", "f2", "f8", "i1", "i2", "i4", "i8"):
        writer.add_tensor(dtype, counted(dtype))
    values = (random.random((3, 64)) * 4 - 2).astype("f4")
    for name in ("Q8_0", "Q4_0", "BF16"):
        kind = gguf.GGMLQuantizationType[name]
        expected["bytes_" + name.lower()] = gguf.quantize(values, kind).view(np.uint8)
    expected["values"] = values
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    np.savez(path("quant.npz"), **expected)


def rezip(source, target, method, change=lambda name, data: data):
    """The members of a zip file again, by another writer, which does not align them."""
    with zipfile.ZipFile(path(source)) as old, zipfile.ZipFile(path(target), "w", method) as new:
        for name in old.namelist():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            new.writestr(info, change(name, old.read(name)))


def big_endian(name, data):
    """A checkpoint whose storages are all of 8 bytes, or the letters of a text."""
    if name.endswith("/byteorder"):
        return b"big"
    return np.frombuffer(data, "<u8").astype(">u8").tobytes() if "/data/" in name else data


def checkpoints():
    whole = torch.arange(24.0).reshape(2, 3, 4)
    tensors = {d: torch.from_numpy(counted(d)) for d in DTYPES}
    tensors["bf16"] = torch.arange(24).reshape(2, 3, 4).to(torch.bfloat16)
    tensors["e4m3"] = torch.ones(3).to(torch.float8_e4m3fn)
    tensors["fnuz"] = torch.ones(3).to(torch.float8_e4m3fnuz)
    views = {"whole": whole, "turned": whole.transpose(0, 2), "part": whole[:, 1:, ::2], "tied": whole,
             "repeated": torch.arange(3).expand(5, 3), "empty": torch.zeros(3, 0),
             "scalar": torch.tensor(2.5), "parameter": torch.nn.Parameter(whole.clone())}
    module = torch.nn.Linear(3, 4)
    with torch.no_grad():
        module.weight.copy_(torch.arange(12.0).reshape(4, 3))
        module.bias.zero_()
    torch.save({**tensors, "views": views, "model": module.state_dict(), "list": [whole[0], (whole[1], 7)],
                "epoch": 3, "rate": 0.5, "done": True, "note": "h\u00e9llo", "none": None, "steps": [1, 2, 3],
                "betas": (0.5, 1), "size": whole.shape, "device": torch.device("cpu"), "far": 1 << 70},
               path("tensors.pt"))
    torch.save({"a": torch.from_numpy(counted("f8")), "b": torch.from_numpy(counted("i8")).transpose(0, 2)},
               path("little.pt"), pickle_protocol=4)
    rezip("little.pt", "big.pt", zipfile.ZIP_STORED, big_endian)
    rezip("tensors.pt", "deflated.pt", zipfile.ZIP_DEFLATED)
    torch.save(whole, path("old.pt"), _use_new_zipfile_serialization=False)
    torch.save(torch.nn.Linear(1, 1), path("module.pt"))
    torch.save({"c": torch.ones(2, dtype=torch.complex64).conj()}, path("conjugated.pt"))
    torch.save({"c32": torch.tensor([1 + 2j, -3 + 0.5j]).to(torch.complex32),
                "fours": torch.tensor([0x21, 0x43], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)},
               path("short.pt"))


def onnx_tensor(name, dtype, array, raw):
    """counted(), as raw bytes or as numbers."""
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    if raw:
        return onnx.helper.make_tensor(name, kind, array.shape, array.tobytes(), raw=True)
    values = array.reshape(-1)
    return onnx.helper.make_tensor(name, kind, array.shape, values.view("u2") if dtype == "f2" else values)


def onnx_model(name, tensors):
    graph = onnx.helper.make_graph([], "counted", [], [], tensors)
    model = onnx.helper.make_model(graph, producer_name="goldens", ir_version=10)
    onnx.helper.set_model_props(model, {"note": "h\u00e9llo"})
    with open(path(name), "wb") as f:
        f.write(model.SerializeToString())


def models():
    """raw.onnx, numbers.onnx and external.onnx, whose elements lie in external.bin."""
    fours = [(i % 16) - 8 for i in range(15)]
    for raw in (True, False):
        tensors = [onnx_tensor(d, d, counted(d), raw) for d in DTYPES if raw or d != "f2"]
        if not raw:
            halves = onnx.TensorProto(name="f2", dims=(2, 3, 4), data_type=onnx.TensorProto.FLOAT16)
            halves.int32_data.extend(counted("f2").reshape(-1).view("u2").tolist())
            tensors.append(halves)
        packed = bytes((fours[i] & 15) | ((fours[i + 1] & 15) << 4 if i < 14 else 0) for i in range(0, 15, 2))
        four = onnx.TensorProto(name="int4", dims=(3, 5), data_type=onnx.TensorProto.INT4)
        nibbles = onnx.TensorProto(name="uint4", dims=(3, 5), data_type=onnx.TensorProto.UINT4)
        for t in (four, nibbles):
            if raw:
                t.raw_data = packed
            else:
                t.int32_data.extend(packed)
        scalar = onnx.helper.make_tensor("scalar", onnx.TensorProto.DOUBLE, (), [2.5])
        empty = onnx.helper.make_tensor("empty", onnx.TensorProto.FLOAT, (3, 0), [])
        text = onnx.helper.make_tensor("text", onnx.TensorProto.STRING, (2,), [b"ab", b"c"])
        onnx_model("raw.onnx" if raw else "numbers.onnx", tensors + [four, nibbles, scalar, empty, text])
    data, tensors = b"", []
    for d in DTYPES:
        t = onnx.TensorProto(name=d, dims=(2, 3, 4),
                             data_type=onnx.helper.np_dtype_to_tensor_dtype(np.dtype(d)),
                             data_location=onnx.TensorProto.EXTERNAL)
        for key, value in (("location", "external.bin"), ("offset", len(data)),
                           ("length", counted(d).nbytes)):
            t.external_data.add(key=key, value=str(value))
        data += counted(d).tobytes() + bytes(-counted(d).nbytes % 64)
        tensors.append(t)
    onnx_model("external.onnx", tensors)
    with open(path("external.bin"), "wb") as f:
        f.write(data)


WIDTH, HEIGHT = 13, 11
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def sample(x, y, c, depth):
    return (x * 7 + y * 13 + c * 31) * (257 if depth == 16 else 1) % (1 << depth)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def rows(colour, depth, xs, ys):
    """Rows as PNG stores them, each with another filter."""
    pixel = max(1, CHANNELS[colour] * depth // 8)
    out, above = b"", None
    for number, y in enumerate(ys):
        bits = "".join(format(sample(x, y, c, depth), f"0{depth}b") for x in xs
                       for c in range(CHANNELS[colour]))
        bits += "0" * (-len(bits) % 8)
        row = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        above = above or bytes(len(row))
        kind = number % 5
        out += bytes([kind]) + bytes((v - predicted(kind, row, above, i, pixel)) % 256
                                     for i, v in enumerate(row))
        above = row
    return out


def predicted(kind, row, above, i, pixel):
    a = row[i - pixel] if i >= pixel else 0
    b, c = above[i], above[i - pixel] if i >= pixel else 0
    if kind < 4:
        return (0, a, b, (a + b) // 2)[kind]
    p = a + b - c
    return min((a, b, c), key=lambda v: abs(p - v))


def png(name, colour, depth, interlaced, extra=b""):
    data = b""
    for x0, y0, dx, dy in PASSES if interlaced else [(0, 0, 1, 1)]:
        xs = range(x0, WIDTH, dx)
        if len(xs):
            data += rows(colour, depth, xs, range(y0, HEIGHT, dy))
    packed = zlib.compress(data)
    half = len(packed) // 2
    with open(path(name), "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
        f.write(chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, colour, 0, 0, interlaced))
                + extra)
        f.write(chunk(b"tEXt", b"Title\0test") + chunk(b"IDAT", packed[:half])
                + chunk(b"IDAT", packed[half:]))
        f.write(chunk(b"IEND", b""))


def images():
    for interlaced in (0, 1):
        for colour, depths in ((0, (1, 2, 4, 8, 16)), (2, (8, 16)), (4, (8, 16)), (6, (8, 16))):
            for depth in depths:
                png(f"c{colour}d{depth}i{interlaced}.png", colour, depth, interlaced)
        for depth in (1, 2, 4, 8):
            colours = bytes((i * k + k) % 256 for i in range(1 << depth) for k in (3, 5, 7))
            alpha = bytes(255 - i for i in range(min(1 << depth, 3)))
            png(f"c3d{depth}i{interlaced}.png", 3, depth, interlaced, chunk(b"PLTE", colours))
            png(f"c3d{depth}i{interlaced}t.png", 3, depth, interlaced,
                chunk(b"PLTE", colours) + chunk(b"tRNS", alpha))
    png("c0d8i0t.png", 0, 8, 0, chunk(b"tRNS", struct.pack(">H", sample(2, 1, 0, 8))))
    png("c2d16i0t.png", 2, 16, 0,
        chunk(b"tRNS", struct.pack(">HHH", *(sample(2, 1, c, 16) for c in range(3)))))


def hierarchies():
    """tensors.h5; outside.h5, which leads to other files; loop.h5, a group in itself."""
    with h5py.File(path("tensors.h5"), "w", libver=("v110", "v110")) as f:
        for d in DTYPES:
            f["plain/" + d] = counted(d)
            f.create_dataset("packed/" + d, data=counted(d), chunks=(2, 3, 2), compression="gzip",
                             shuffle=True)
        f["big"] = counted(">i4")
        f["scalar"] = 2.5
        f["empty"] = np.zeros((3, 0))
        f["text"] = "hello"
    with h5py.File(path("outside.h5"), "w", libver=("v110", "v110")) as f:
        f["here"] = counted("f4")
        f["soft"] = h5py.SoftLink("/here")
        f["link"] = h5py.ExternalLink("tensors.h5", "/big")
        f.create_dataset("external", (4,), "u1", external=[("external.bin", 0, 4)])
        layout = h5py.VirtualLayout((2, 3, 4), "i4")
        layout[...] = h5py.VirtualSource("tensors.h5", "big", (2, 3, 4))
        f.create_virtual_dataset("virtual", layout)
        f.create_dataset("huge", (1 << 40,), "f8", chunks=(1024,))
    with h5py.File(path("loop.h5"), "w", libver=("v110", "v110")) as f:
        f.create_group("a")["b"] = f["/"]


def photographs():
    """photo.jpg and, in gray and several scans, gray.jpg: 20 by 30, of 4 y + 2 x + 40 c."""
    y, x, c = np.meshgrid(range(20), range(30), range(3), indexing="ij")
    pixels = (4 * y + 2 * x + 40 * c).astype("u1")
    Image.fromarray(pixels).save(path("photo.jpg"), quality=98, subsampling=0)
    Image.fromarray(pixels[..., 0]).save(path("gray.jpg"), quality=98, progressive=True)


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    npy()
    safetensors()
    quantised()
    checkpoints()
    models()
    hierarchies()
    photographs()
    images()
