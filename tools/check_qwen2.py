#!/usr/bin/env python3
"""LLAISYS' Qwen2 model against the transformers package; tools/check_qwen2.sh runs it.

    check_qwen2.py build/compat/llaisys/lib/libllaisys.so
"""
import ctypes as c
import itertools
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["LLAISYS_SIMULATE"] = "1"  # where there is no CUDA device, the simulated one
import numpy as np
import safetensors
import torch
import transformers

CPU, NVIDIA = 0, 1
F32 = 13
NEW_TOKENS = 24
SEEDS = (0, 1, 2)
HEADS = ((4, 4), (4, 2), (6, 1))  # of queries, of keys and values

lib = c.CDLL(os.path.abspath(sys.argv[1]))


class Meta(c.Structure):
    _fields_ = ([("dtype", c.c_int)] +
                [(n, c.c_size_t) for n in ("nlayer", "hs", "nh", "nkvh", "dh", "di", "maxseq", "voc")] +
                [("epsilon", c.c_float), ("theta", c.c_float), ("end_token", c.c_int64)])


# Members of the weights, and what they are called in a checkpoint.
WHOLE = {"in_embed": "model.embed_tokens.weight", "out_embed": "lm_head.weight",
         "out_norm_w": "model.norm.weight"}
LAYER = {"attn_norm_w": "input_layernorm.weight",
         "attn_q_w": "self_attn.q_proj.weight", "attn_q_b": "self_attn.q_proj.bias",
         "attn_k_w": "self_attn.k_proj.weight", "attn_k_b": "self_attn.k_proj.bias",
         "attn_v_w": "self_attn.v_proj.weight", "attn_v_b": "self_attn.v_proj.bias",
         "attn_o_w": "self_attn.o_proj.weight", "mlp_norm_w": "post_attention_layernorm.weight",
         "mlp_gate_w": "mlp.gate_proj.weight", "mlp_up_w": "mlp.up_proj.weight",
         "mlp_down_w": "mlp.down_proj.weight"}


class Weights(c.Structure):
    _fields_ = [(n, c.c_void_p) for n in WHOLE] + [(n, c.POINTER(c.c_void_p)) for n in LAYER]


lib.llaisysQwen2ModelCreate.argtypes = [c.POINTER(Meta), c.c_int, c.POINTER(c.c_int), c.c_int]
lib.llaisysQwen2ModelCreate.restype = c.c_void_p
lib.llaisysQwen2ModelWeights.argtypes = lib.llaisysQwen2ModelDestroy.argtypes = [c.c_void_p]
lib.llaisysQwen2ModelWeights.restype = c.POINTER(Weights)
lib.llaisysQwen2ModelInfer.argtypes = [c.c_void_p, c.POINTER(c.c_int64), c.c_size_t]
lib.llaisysQwen2ModelInfer.restype = c.c_int64
lib.tensorLoad.argtypes = [c.c_void_p, c.c_void_p]
lib.tensorGetNdim.argtypes = [c.c_void_p]
lib.tensorGetNdim.restype = c.c_size_t
lib.tensorGetShape.argtypes = [c.c_void_p, c.POINTER(c.c_size_t)]


class Qwen2:
    """As the system's package has it: a folder with config.json and safetensors."""

    def __init__(self, folder, device):
        n = json.loads((Path(folder) / "config.json").read_text())
        theta = n.get("rope_theta") or n["rope_parameters"]["rope_theta"]
        heads = n["num_attention_heads"]
        meta = Meta(F32, n["num_hidden_layers"], n["hidden_size"], heads, n["num_key_value_heads"],
                    n["hidden_size"] // heads, n["intermediate_size"], n["max_position_embeddings"],
                    n["vocab_size"], n["rms_norm_eps"], theta, n["eos_token_id"])
        self.end = n["eos_token_id"]
        self.model = lib.llaisysQwen2ModelCreate(c.byref(meta), device, (c.c_int * 1)(0), 1)
        self.weights = lib.llaisysQwen2ModelWeights(self.model).contents
        self.load(Path(folder), n)

    def __del__(self):
        lib.llaisysQwen2ModelDestroy(self.model)

    def load(self, folder, n):
        places = {name: getattr(self.weights, member) for member, name in WHOLE.items()}
        for i, (member, name) in itertools.product(range(n["num_hidden_layers"]), LAYER.items()):
            places[f"model.layers.{i}.{name}"] = getattr(self.weights, member)[i]
        if n["tie_word_embeddings"]:
            self.weights.out_embed = self.weights.in_embed
            del places["lm_head.weight"]
        for file in sorted(folder.glob("*.safetensors")):
            with safetensors.safe_open(file, framework="numpy", device="cpu") as data:
                for name in data.keys():
                    put(places.pop(name), data.get_tensor(name))
        assert not places, f"not in the checkpoint: {list(places)}"

    def generate(self, tokens, count):
        tokens = list(tokens)
        step = tokens
        while count:
            step = [lib.llaisysQwen2ModelInfer(self.model, (c.c_int64 * len(step))(*step), len(step))]
            tokens += step
            count -= 1
            if step[0] == self.end:
                break
        return tokens


def put(tensor, array):
    shape = (c.c_size_t * lib.tensorGetNdim(tensor))()
    lib.tensorGetShape(tensor, shape)
    assert tuple(shape) == array.shape and array.dtype == np.float32
    array = np.ascontiguousarray(array)
    lib.tensorLoad(tensor, array.ctypes.data)


def make_checkpoint(folder, seed, heads, kv_heads, tied):
    """Weights are larger than those of a model before training, so that tokens vary."""
    torch.manual_seed(seed)
    config = transformers.Qwen2Config(
        vocab_size=211, hidden_size=heads * 16, intermediate_size=96, num_hidden_layers=3,
        num_attention_heads=heads, num_key_value_heads=kv_heads, max_position_embeddings=128,
        tie_word_embeddings=tied, bos_token_id=0, eos_token_id=1, pad_token_id=2, use_sliding_window=False)
    model = transformers.Qwen2ForCausalLM(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(1 + 0.2 * torch.randn_like(p) if "norm" in name else 0.25 * torch.randn_like(p))
    model.save_pretrained(folder, max_shard_size="100KB")
    return model


def expected(model, tokens):
    given = torch.tensor([tokens])
    with torch.no_grad():
        out = model.generate(given, attention_mask=torch.ones_like(given), max_new_tokens=NEW_TOKENS,
                             do_sample=False)
    return out[0].tolist()


def main():
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    devices = [CPU]
    lib.llaisysGetRuntimeAPI.restype = c.POINTER(c.CFUNCTYPE(c.c_int))
    if lib.llaisysGetRuntimeAPI(NVIDIA)[0]() > 0:
        devices.append(NVIDIA)
    passed = failed = 0
    seen = set()
    for seed, (heads, kv_heads), tied in itertools.product(SEEDS, HEADS, (False, True)):
        with tempfile.TemporaryDirectory() as folder:
            model = make_checkpoint(folder, seed, heads, kv_heads, tied)
            prompt = np.random.default_rng(seed).integers(3, 211, 5 + 4 * seed).tolist()
            want = expected(model, prompt)
            seen.update(want[len(prompt):])
            for device in devices:
                got = Qwen2(folder, device).generate(prompt, NEW_TOKENS)
                passed, failed = passed + (got == want), failed + (got != want)
                if got != want:
                    print(f"FAILED: seed {seed}, heads {heads}/{kv_heads}, tied {tied}, device {device}:\n"
                          f"  {got}\n  {want}")
    if len(seen) < 50:
        failed += 1
        print(f"FAILED: the tokens vary too little to tell anything: {len(seen)} of 211 occur")
    print(f"{passed} passed, {failed} failed, {len(devices) == 1:d} skipped")
    return failed != 0


sys.exit(main())
