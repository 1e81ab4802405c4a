"""Small modules that read the tiny checkpoints of tests/golden: LLaDA and Dream written anew, the rest by transformers.

Where a model comes with code of its own, a class of transformers stands in for it, with its name, its arguments and what it
does about masks; so the fixtures were made (tests/golden/make.py).
"""

import importlib.util
import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional as F

GOLDEN = Path(__file__).resolve().parents[3] / "tests" / "golden"


class Config:
    def __init__(self, entries):
        self.__dict__.update(entries)


def config_of(name):
    return json.loads((GOLDEN / name / "config.json").read_text())


def rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def rotate(x, theta, pairs=False, begin=0):
    """Rotary positions on halves, or on adjacent pairs; x is [B, H, L, D]."""
    half = x.shape[-1] // 2
    angles = torch.arange(begin, begin + x.shape[2])[:, None] * theta ** (-torch.arange(half) / half)
    a, b = (x[..., 0::2], x[..., 1::2]) if pairs else (x[..., :half], x[..., half:])
    turned = a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()
    return torch.stack(turned, -1).flatten(-2) if pairs else torch.cat(turned, -1)


class PreNormModel(nn.Module):
    """A decoder that sees both ways; subclasses say where its weights are."""

    pairs = False

    def __init__(self, config, weights):
        super().__init__()
        self.config = config
        self.weights = weights
        self.anchor = nn.Parameter(torch.zeros(1))  # modules are asked for their device and type
        self.calls = 0
        self.rows = 0  # that were computed

    def attend(self, x, layer, number, past=None):
        config = self.names
        batch, length, _ = x.shape

        def heads(kind, count):
            made = F.linear(x, self.weights[layer + kind + ".weight"], self.weights.get(layer + kind + ".bias"))
            return made.view(batch, length, count, -1).transpose(1, 2)

        begin = past.get_seq_length(number) if past is not None else 0
        q, k = (rotate(heads(kind, count), config["theta"], self.pairs, begin) for kind, count in config["qk"])
        v = heads(*config["v"])
        if past is not None:
            k, v = past.update(k, v, number)
        groups = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        weights = torch.softmax(q @ k.transpose(2, 3) / q.shape[-1] ** 0.5, -1)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, length, -1)
        return F.linear(mixed, self.weights[layer + config["out"]]), weights

    def body(self, tokens, past=None):
        self.rows += tokens.numel()
        names = self.names
        x = self.weights[names["embedding"]][tokens]
        maps = []
        for number in range(names["layers"]):
            layer = names["layer"].format(number)
            mixed, weights = self.attend(rms_norm(x, self.weights[layer + names["norm"]], names["eps"]), layer, number, past)
            maps.append(weights)
            x = x + mixed
            y = rms_norm(x, self.weights[layer + names["ffn_norm"]], names["eps"])
            gate, up, down = (self.weights[layer + part] for part in names["ffn"])
            x = x + F.linear(F.silu(F.linear(y, gate)) * F.linear(y, up), down)
        return x, maps


class Output:
    def __init__(self, logits, attentions=None):
        self.logits = logits
        self.attentions = attentions


class LLaDAModelLM(PreNormModel):
    """With the final norm where LLaDA has it, so that the adapter finds it."""

    def __init__(self):
        super().__init__(Config(config_of("llada")), load_file(GOLDEN / "llada" / "model.safetensors"))
        config = self.config
        self.names = {"theta": config.rope_theta, "qk": (("q_proj", config.n_heads), ("k_proj", config.n_kv_heads)),
                      "v": ("v_proj", config.n_kv_heads), "out": "attn_out.weight", "layers": config.n_layers,
                      "embedding": "model.transformer.wte.weight", "layer": "model.transformer.blocks.{}.",
                      "norm": "attn_norm.weight", "ffn_norm": "ff_norm.weight", "eps": config.rms_norm_eps,
                      "ffn": ("ff_proj.weight", "up_proj.weight", "ff_out.weight")}
        self.model = nn.Module()
        self.model.transformer = nn.Module()
        self.model.transformer.ln_f = Norm(self.weights["model.transformer.ln_f.weight"], config.rms_norm_eps)

    def forward(self, input_ids, attention_mask=None):
        self.calls += 1
        x = self.model.transformer.ln_f(self.body(input_ids)[0])
        return Output(F.linear(x, self.weights["model.transformer.ff_out.weight"]))


class DreamModel(PreNormModel):
    def __init__(self):
        super().__init__(Config(config_of("dream")), load_file(GOLDEN / "dream" / "model.safetensors"))
        config = self.config
        self.names = {"theta": config.rope_theta, "v": ("self_attn.v_proj", config.num_key_value_heads),
                      "qk": (("self_attn.q_proj", config.num_attention_heads),
                             ("self_attn.k_proj", config.num_key_value_heads)),
                      "out": "self_attn.o_proj.weight", "layers": config.num_hidden_layers,
                      "embedding": "model.embed_tokens.weight", "layer": "model.layers.{}.",
                      "norm": "input_layernorm.weight", "ffn_norm": "post_attention_layernorm.weight",
                      "eps": config.rms_norm_eps,
                      "ffn": ("mlp.gate_proj.weight", "mlp.up_proj.weight", "mlp.down_proj.weight")}
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.lm_head.weight = nn.Parameter(self.weights["lm_head.weight"])

    def forward(self, input_ids, attention_mask=None, past_key_values=None, use_cache=False, output_attentions=False):
        self.calls += 1
        x, maps = self.body(input_ids, past_key_values)
        x = rms_norm(x, self.weights["model.norm.weight"], self.config.rms_norm_eps)
        return Output(self.lm_head(x), maps if output_attentions else None)


class StoriesModel(PreNormModel):
    """The bundled model of stories, from its GGUF file: LLaDA's layers, rows shifted by one, trained."""

    pairs = True

    def __init__(self, path):
        import gguf

        reader = gguf.GGUFReader(path)
        config = {key.split(".", 1)[1]: field.contents() for key, field in reader.fields.items() if key.startswith("llada.")}
        weights = {each.name: torch.from_numpy(each.data.astype("float32")) for each in reader.tensors}
        super().__init__(Config({"vocab_size": config["vocab_size"], "max_position_embeddings": config["context_length"],
                                 "mask_token_id": reader.fields["tokenizer.ggml.mask_token_id"].contents()}), weights)
        heads = config["attention.head_count"]
        self.names = {"theta": config["rope.freq_base"], "qk": (("attn_q", heads), ("attn_k", heads)),
                      "v": ("attn_v", heads), "out": "attn_output.weight", "layers": config["block_count"],
                      "embedding": "token_embd.weight", "layer": "blk.{}.", "norm": "attn_norm.weight",
                      "ffn_norm": "ffn_norm.weight", "eps": config["attention.layer_norm_rms_epsilon"],
                      "ffn": ("ffn_gate.weight", "ffn_up.weight", "ffn_down.weight")}

    def forward(self, input_ids):
        x = rms_norm(self.body(input_ids)[0], self.weights["output_norm.weight"], self.names["eps"])
        return F.linear(x, self.weights.get("output.weight", self.weights["token_embd.weight"]))


class Norm(nn.Module):
    def __init__(self, weight, eps):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.eps = eps

    def forward(self, x):
        return rms_norm(x, self.weight, self.eps)


def open_tokenizer(name):
    import transformers

    if name not in ("llada", "dream", "bert", "distilbert", "esm2"):
        return None  # a vocabulary of letters, as no tokenizer of theirs has it
    if name in ("llada", "dream"):
        return transformers.PreTrainedTokenizerFast(tokenizer_file=str(GOLDEN / name / "tokenizer.json"))
    cls = transformers.EsmTokenizer if name == "esm2" else transformers.BertTokenizer
    return cls.from_pretrained(GOLDEN / name)


def made_fixtures():
    """Those of make.py: class of transformers, model_type, attention, config.json."""
    spec = importlib.util.spec_from_file_location("make_golden", GOLDEN / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    return make.FIXTURES


def stand_in(name, base):
    """A class of transformers as that of the model's own code, as far as calls go."""
    import transformers
    from punt.torch.models import block_mask
    from punt.torch.states import layers_of, new_cache

    class Rnd1(base):
        """Sees everything, and takes no cache."""

        def forward(self, input_ids, attention_mask=None, position_ids=None, **rest):
            assert attention_mask is None
            own = block_mask(input_ids.shape[1], 0, "bias", torch.float32, input_ids.device)
            return super().forward(input_ids, attention_mask=own, position_ids=position_ids, use_cache=False)

    class FastDllm(base):
        """Makes its mask itself; without update_past_key_values, it reads what it is given and keeps nothing."""

        def forward(self, input_ids, attention_mask=None, position_ids=None, past_key_values=None, use_cache=None,
                    update_past_key_values=False, block_size=32, **rest):
            begin = past_key_values.get_seq_length() if past_key_values is not None else 0
            own = block_mask(begin + input_ids.shape[1], block_size, "bool", torch.float32, input_ids.device)[:, :, begin:]
            if past_key_values is not None and not update_past_key_values:
                past_key_values = new_cache(layers_of(past_key_values))
            return super().forward(input_ids, attention_mask=own.expand(len(input_ids), -1, -1, -1),
                                   position_ids=position_ids, past_key_values=past_key_values, use_cache=use_cache)

    kinds = {"rnd1": ("RND1LM", Rnd1), "fast_dllm_v2": ("Fast_dLLM_QwenForCausalLM", FastDllm),
             "sdar": ("SDARForCausalLM", base), "sdar_moe": ("SDARMoeForCausalLM", base),
             "stable_diffcoder": ("StableDiffcoderForCausalLM", base), "a2d_qwen3": ("A2DQwen3LMHeadModel", base),
             "a2d_qwen2": ("A2DQwen2LMHeadModel", base), "a2d_llama": ("A2DLlamaLMHeadModel", base)}
    return type(kinds[name][0], (kinds[name][1],), {}) if name in kinds else base


def open_made(name):
    import transformers

    class_name, model_type, _, config = made_fixtures()[name]
    fields = {**config, "model_type": model_type, "architectures": [class_name]}
    cls = stand_in(name, getattr(transformers, class_name))
    return cls.from_pretrained(GOLDEN / name, config=transformers.AutoConfig.for_model(**fields), dtype=torch.float32)


def open_model(name):
    """The module that reads a folder of tests/golden."""
    if name == "llada":
        return LLaDAModelLM()
    if name == "dream":
        return DreamModel()
    import transformers

    if name not in ("bert", "distilbert", "esm2"):
        return open_made(name)
    cls = {"bert": transformers.BertForMaskedLM, "distilbert": transformers.DistilBertForMaskedLM,
           "esm2": transformers.EsmForMaskedLM}[name]
    return cls.from_pretrained(GOLDEN / name, dtype=torch.float32)
