#!/usr/bin/env python3
"""Makes tiny checkpoints with random weights, inputs, and the logits that the original implementations compute on them.

The implementations are those of transformers; where a model's own code is not in it, the comment of its entry says from
which published definition it is re-made. Everything is seeded: with the pinned versions, weights and
inputs come out bit by bit, and logits up to rounding. scripts/make-golden provides the versions.

`--check` compares what is in the folders with what would be made, and writes nothing.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile

import numpy
import torch
import transformers
from safetensors.numpy import load_file, save_file

HERE = os.path.dirname(os.path.realpath(__file__))
VOCAB, MASK, CONTEXT = 64, 60, 64
BOUND = 3e-5  # of what rounding may change

DECODER = {"hidden_act": "silu", "hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": CONTEXT,
           "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2, "vocab_size": VOCAB,
           "mask_token_id": MASK, "attention_dropout": 0.0}
QWEN3 = {**DECODER, "attention_bias": False, "head_dim": 16, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0}
QWEN2 = {**DECODER, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "use_sliding_window": False}
MOE = {"decoder_sparse_step": 1, "mlp_only_layers": [], "moe_intermediate_size": 32, "norm_topk_prob": True,
       "num_experts": 8, "num_experts_per_tok": 2}
ENCODER = {"hidden_act": "gelu", "hidden_size": 64, "intermediate_size": 64, "num_attention_heads": 4,
           "num_hidden_layers": 2, "vocab_size": VOCAB, "mask_token_id": MASK, "attention_probs_dropout_prob": 0.0,
           "hidden_dropout_prob": 0.0}

# name: class of transformers, model_type there, config.json as it is published, and what the original changes:
#   attention   "full": causal models see all positions; a number: block-causal, in blocks of so many;
#               "own": as the class has it
FIXTURES = {
    # dllm's A2D classes: those of transformers, called with a mask that hides nothing.
    "a2d_qwen3": ("Qwen3ForCausalLM", "qwen3", "full", {
        "architectures": ["A2DQwen3LMHeadModel"], "model_type": "a2d-qwen3", **QWEN3, "tie_word_embeddings": True}),
    "a2d_qwen2": ("Qwen2ForCausalLM", "qwen2", "full", {
        "architectures": ["A2DQwen2LMHeadModel"], "model_type": "a2d-qwen2", **QWEN2, "tie_word_embeddings": True}),
    "a2d_llama": ("LlamaForCausalLM", "llama", "full", {
        "architectures": ["A2DLlamaLMHeadModel"], "model_type": "a2d-llama", **DECODER, "attention_bias": False,
        "mlp_bias": False, "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "tie_word_embeddings": False}),
    # SDAR's modeling_sdar.py is Qwen3's with this mask (JetLM/SDAR; Diffulex and SGLang read it the same way).
    "sdar": ("Qwen3ForCausalLM", "qwen3", 4, {
        "architectures": ["SDARForCausalLM"], "model_type": "sdar", **QWEN3, "block_size": 4,
        "tie_word_embeddings": False}),
    "sdar_moe": ("Qwen3MoeForCausalLM", "qwen3_moe", 4, {
        "architectures": ["SDARMoeForCausalLM"], "model_type": "sdar_moe", **QWEN3, **MOE, "block_size": 4,
        "tie_word_embeddings": False}),
    # RND1's modeling_rnd.py: Qwen3-MoE with is_causal false; its sampler reads the row before (shift).
    "rnd1": ("Qwen3MoeForCausalLM", "qwen3_moe", "full", {
        "architectures": ["RND1LM"], "model_type": "rnd1", **QWEN3, **MOE, "tie_word_embeddings": False}),
    # Stable-DiffCoder: Llama with this mask (Diffulex reads it so; its card decodes with block_length=4).
    "stable_diffcoder": ("LlamaForCausalLM", "llama", 4, {
        "architectures": ["LlamaForCausalLM"], "auto_map": {"AutoModelForCausalLM": "modeling.Model"},
        "model_type": "llama", **DECODER, "attention_bias": False, "block_size": 4, "mlp_bias": False,
        "rms_norm_eps": 1e-6, "rope_theta": 500000.0, "tie_word_embeddings": False}),
    # Fast-dLLM v2's modeling.py: Qwen2 with block-causal attention of bd_size; its sampler reads the row before.
    "fast_dllm_v2": ("Qwen2ForCausalLM", "qwen2", 8, {
        "architectures": ["Fast_dLLM_QwenForCausalLM"], "model_type": "Fast_dLLM_Qwen", **QWEN2, "bd_size": 8,
        "tie_word_embeddings": False}),
    "roberta": ("RobertaForMaskedLM", "roberta", "own", {
        "architectures": ["RobertaForMaskedLM"], "model_type": "roberta", **ENCODER, "bos_token_id": 0,
        "eos_token_id": 2, "layer_norm_eps": 1e-5, "max_position_embeddings": CONTEXT + 2, "pad_token_id": 1,
        "position_embedding_type": "absolute", "type_vocab_size": 1}),
    "albert": ("AlbertForMaskedLM", "albert", "own", {
        "architectures": ["AlbertForMaskedLM"], "model_type": "albert", **ENCODER, "embedding_size": 32,
        "hidden_act": "gelu_new", "inner_group_num": 1, "layer_norm_eps": 1e-12, "max_position_embeddings": CONTEXT,
        "num_hidden_groups": 1, "num_hidden_layers": 3, "pad_token_id": 0, "type_vocab_size": 2}),
    "modern_bert": ("ModernBertForMaskedLM", "modernbert", "own", {
        "architectures": ["ModernBertForMaskedLM"], "model_type": "modernbert", "attention_bias": False,
        "attention_dropout": 0.0, "classifier_activation": "gelu", "classifier_bias": False, "decoder_bias": True,
        "global_attn_every_n_layers": 3, "global_rope_theta": 160000.0, "hidden_activation": "gelu", "hidden_size": 32,
        "intermediate_size": 64, "local_attention": 8, "local_rope_theta": 10000.0, "mask_token_id": MASK,
        "max_position_embeddings": CONTEXT, "mlp_bias": False, "norm_bias": False, "norm_eps": 1e-5,
        "num_attention_heads": 4, "num_hidden_layers": 4, "pad_token_id": 0, "cls_token_id": 1, "sep_token_id": 2,
        "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": True, "vocab_size": VOCAB}),
    "esmc": ("EsmcForMaskedLM", "esmc", "own", {
        "architectures": ["EsmcForMaskedLM"], "model_type": "esmc", "attention_bias": False, "hidden_act": "silu",
        "hidden_size": 32, "intermediate_size": 64, "mask_token_id": 32, "max_position_embeddings": CONTEXT,
        "mlp_bias": False, "num_attention_heads": 4, "num_hidden_layers": 2, "pad_token_id": 1,
        "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}, "tie_word_embeddings": False,
        "vocab_size": VOCAB}),
}

# Added to the seed of a fixture: with these no router has to choose between experts of almost the same probability.
SEEDS = {"sdar_moe": 7, "rnd1": 4}

# Letters, so that commands can read and write texts: not what the released models have, but for ESM C.
LETTERS = ["[PAD]", "[CLS]", "[SEP]", *"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz01234", "[MASK]", *"567"]
AMINO_ACIDS = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-|", "<mask>"]

# name, length, share of masks
CASES = [("fully_masked", 12, 1.0), ("half_masked", 24, 0.5), ("prompt_then_masked", 20, None), ("length_1_token", 1, 0.0),
         ("length_1_mask", 1, 1.0), ("no_mask", 13, 0.0), ("max_length_half_masked", CONTEXT, 0.5),
         ("repeated_token_one_mask", 9, None), ("batch_member", 5, 0.5), ("batch_member", 11, 0.5),
         ("batch_member", 17, 0.5)]


def fill(model, random):
    """Weights of a size at which every part of the network shows in the logits."""
    for name, weight in sorted(model.named_parameters()):
        if weight.dim() == 1:
            is_norm = "norm" in name.lower() and name.endswith("weight")
            value = 1 + 0.25 * random.standard_normal(weight.shape) if is_norm else 0.2 * random.standard_normal(weight.shape)
        elif "embed" in name and "mapping" not in name:
            value = 0.5 * random.standard_normal(weight.shape)
            # A wrong epsilon of a norm shows where what is normed is small.
            is_words = "position" not in name and "type" not in name
            value[5::7] *= 0.01 if is_words else 1
            if not is_words:
                value *= 0.01 if "type" in name else 1
                value[::2] *= 0.01
        else:
            is_router = name.endswith("mlp.gate.weight")
            value = (4 if is_router else 1.6) / weight.shape[-1] ** 0.5 * random.standard_normal(weight.shape)
        with torch.no_grad():
            weight.copy_(torch.from_numpy(value.astype(numpy.float32)))
    model.tie_weights()


def cases(config, random):
    mask = config["mask_token_id"]
    result = []
    for index, (kind, length, share) in enumerate(CASES):
        tokens = random.integers(3, min(VOCAB, mask) - 1, length)
        if kind == "prompt_then_masked":
            tokens[length // 2:] = mask
        elif kind == "repeated_token_one_mask":
            tokens[:] = tokens[0]
            tokens[length // 2] = mask
        elif share > 0:
            count = max(1, int(share * length))
            tokens[random.permutation(length)[:count]] = mask
        if kind == "no_mask":
            tokens[2::3] = 12  # a row of the embedding that was made small
        result.append({"name": f"case{index}", "kind": kind, "length": length, "input_ids": [int(t) for t in tokens]})
    return result


def attention_mask(attention, length):
    """Additive, [1, 1, queries, keys]; None where the class has its own."""
    if attention == "own":
        return None
    mask = torch.zeros(1, 1, length, length)
    if attention != "full":
        block = torch.arange(length) // attention
        mask[0, 0][block[:, None] < block[None, :]] = torch.finfo(torch.float32).min
    return mask


def forward(model, attention, tokens):
    with torch.no_grad():
        out = model(input_ids=torch.tensor([tokens]), attention_mask=attention_mask(attention, len(tokens)),
                    output_attentions=True)
    return out.logits[0].numpy(), out.attentions[-1][0].numpy()


def decode_by_confidence(predict, prompt, length, block, per_step, mask):
    """LLaDA's sampler, which dllm uses for A2D: in each block of the answer, left to right, commit the most probable."""
    state = prompt + [mask] * length
    states = [list(state)]
    for begin in range(len(prompt), len(state), block):
        while mask in state[begin:begin + block]:
            best = proposals(predict(state), state, range(begin, begin + block), mask)
            for _, position, token in best[:per_step]:
                state[position] = token
            states.append(list(state))
    return states


def decode_by_blocks(predict, prompt, length, block, threshold, mask):
    """SDAR's dynamic rule: blocks tile the text from its first position; in each, commit what is more probable than the
    threshold, or else the most probable."""
    state = prompt + [mask] * length
    states = [list(state)]
    for begin in range(len(prompt) // block * block, len(state), block):
        while mask in state[begin:begin + block]:
            best = proposals(predict(state), state, range(begin, begin + block), mask)
            sure = [each for each in best if each[0] > threshold]
            for _, position, token in sure or best[:1]:
                state[position] = token
            states.append(list(state))
    return states


def proposals(logits, state, positions, mask):
    """(probability, position, token) of the masked positions, the most probable first. A mask is never proposed."""
    logits = logits.astype(numpy.float64)
    logits[:, mask] = -numpy.inf
    found = []
    for position in positions:
        if position < len(state) and state[position] == mask:
            row = numpy.exp(logits[position] - logits[position].max())
            found.append((row.max() / row.sum(), position, int(row.argmax())))
    return sorted(found, key=lambda each: (-each[0], each[1]))


def generation(name, config, predict, prompt):
    mask = config["mask_token_id"]
    runs = []
    if name == "a2d_qwen3":
        for block, per_step in ((16, 1), (16, 4), (8, 2)):
            states = decode_by_confidence(predict, prompt, 16, block, per_step, mask)
            runs.append({"params": {"gen_length": 16, "block_length": block, "per_step": per_step}, "prompt": prompt,
                         "states": states})
    elif name == "sdar":
        for cut, threshold in ((10, 0.9), (12, 0.3), (9, 0.15)):
            states = decode_by_blocks(predict, prompt[:cut], 24 - cut, config["block_size"], threshold, mask)
            runs.append({"params": {"block_length": config["block_size"], "threshold": threshold, "mask_id": mask},
                         "prompt": prompt[:cut], "states": states})
    for run in runs:
        run["final"] = run["states"][-1]
    return {"source": "the rule's own words in make.py, model = this fixture, float32", "runs": runs}


def open_model(class_name, model_type, config, random):
    """The published config, in the words of the class that it is made from."""
    fields = {**config, "model_type": model_type, "architectures": [class_name]}
    model = getattr(transformers, class_name)(transformers.AutoConfig.for_model(**fields))
    model.set_attn_implementation("eager")
    model.eval()
    fill(model, random)
    return model


def make(name, folder):
    class_name, model_type, attention, config = FIXTURES[name]
    random = numpy.random.default_rng(sum(name.encode()) + SEEDS.get(name, 0))
    model = open_model(class_name, model_type, config, random)
    inputs = {"vocab_size": VOCAB, "mask_token_id": config["mask_token_id"], "logits_file": "logits.safetensors",
              "debug_case": "case1", "cases": cases(config, random)}
    logits, maps = {}, {}
    for case in inputs["cases"]:
        if isinstance(attention, int):
            case["block_length"] = attention
        logits[case["name"]], maps[case["name"]] = forward(model, attention, case["input_ids"])
    with tempfile.TemporaryDirectory() as saved:
        model.save_pretrained(saved)
        weights = load_file(os.path.join(saved, "model.safetensors"))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    save_file(weights, os.path.join(folder, "model.safetensors"))
    save_file(logits, os.path.join(folder, "logits.safetensors"))
    save_file({"attention": maps[inputs["debug_case"]]}, os.path.join(folder, "attention.safetensors"))
    write_json(folder, "config.json", config, indent=2, sort_keys=True)
    write_json(folder, "inputs.json", inputs)
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as file:
        file.writelines(token + "\n" for token in (AMINO_ACIDS if name == "esmc" else LETTERS))
    prompt = [token for token in inputs["cases"][5]["input_ids"]][:12]
    runs = generation(name, config, lambda tokens: forward(model, attention, tokens)[0], prompt)
    if runs["runs"]:
        write_json(folder, "generation.json", runs)


def write_json(folder, name, value, **style):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file, **style)
        file.write("\n")


def check(name, folder):
    """Whether `folder` is what would be made, up to rounding."""
    with tempfile.TemporaryDirectory() as fresh:
        make(name, os.path.join(fresh, name))
        for file in sorted(os.listdir(os.path.join(fresh, name))):
            old, new = os.path.join(folder, file), os.path.join(fresh, name, file)
            if not os.path.exists(old):
                return f"{old} is missing"
            if not file.endswith(".safetensors"):
                with open(old, encoding="utf-8") as a, open(new, encoding="utf-8") as b:
                    if a.read() != b.read():
                        return f"{old} differs"
                continue
            old_tensors, new_tensors = load_file(old), load_file(new)
            if old_tensors.keys() != new_tensors.keys():
                return f"{old} has other tensors"
            worst = max(float(numpy.abs(old_tensors[key] - new_tensors[key]).max()) for key in new_tensors)
            if worst > (0 if file == "model.safetensors" else BOUND):
                return f"{old} differs by {worst:.2g}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(FIXTURES)} (default: all)")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--out", default=HERE, help="folder of the fixtures (default: %(default)s)")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in FIXTURES]
    if unknown:
        parser.error(f"unknown fixture '{unknown[0]}'; known: {', '.join(FIXTURES)}")
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name in options.names or FIXTURES:
        folder = os.path.join(options.out, name)
        if options.check:
            trouble = check(name, folder)
            print(trouble or f"{name}: as made")
            if trouble:
                sys.exit(1)
        else:
            make(name, folder)
            size = sum(os.path.getsize(os.path.join(folder, file)) for file in os.listdir(folder))
            print(f"{name}: {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
