"""A trained network as a GGUF file that punt and, for the `llada` architecture, llama.cpp read; and back again."""

import os
import pathlib

import gguf
import numpy as np
import torch

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = (int(getattr(gguf.TokenType, n)) for n in
                                                ("NORMAL", "UNKNOWN", "CONTROL", "USER_DEFINED", "BYTE"))  # fmt: skip
TYPES = {
    "f32": (gguf.GGMLQuantizationType.F32, gguf.LlamaFileType.ALL_F32),
    "f16": (gguf.GGMLQuantizationType.F16, gguf.LlamaFileType.MOSTLY_F16),
    "q8_0": (gguf.GGMLQuantizationType.Q8_0, gguf.LlamaFileType.MOSTLY_Q8_0),
}


class Vocabulary:
    """What the file says of its tokens. `model` and `pre` as in llama.cpp's tokenizer keys."""

    def __init__(self, model: str, tokens: list[bytes | str], kinds: list[int], special: dict[str, int], **more):
        self.model, self.tokens, self.kinds, self.special = model, tokens, kinds, special
        self.pre: str | None = more.pop("pre", None)
        self.scores: list[float] | None = more.pop("scores", None)
        self.merges: list[str] | None = more.pop("merges", None)
        self.flags: dict[str, bool] = more.pop("flags", {})
        self.chat_template: str | None = more.pop("chat_template", None)
        assert not more, more

    def write(self, writer: gguf.GGUFWriter):
        writer.add_tokenizer_model(self.model)
        if self.pre is not None:
            writer.add_tokenizer_pre(self.pre)
        writer.add_token_list(self.tokens)
        writer.add_token_types(self.kinds)
        if self.scores is not None:
            writer.add_token_scores(self.scores)
        if self.merges is not None:
            writer.add_token_merges(self.merges)
        for name, token in self.special.items():
            writer.add_uint32(f"tokenizer.ggml.{name}_token_id", token)
        for name, value in self.flags.items():
            writer.add_bool(f"tokenizer.ggml.{name}", value)
        if self.chat_template is not None:
            writer.add_chat_template(self.chat_template)


def write_gguf(network, vocabulary: Vocabulary, path: pathlib.Path, kind: str, name: str, description: str, licence: str,
               causal: bool = False):  # fmt: skip
    """Matrices get the type `kind`, vectors stay f32. `causal` writes a Llama instead: the parent of an adapted network."""
    shape, arch = network.shape, "llama" if causal else network.architecture
    matrix_type, file_type = TYPES[kind]
    temporary = path.with_suffix(".tmp")
    writer = gguf.GGUFWriter(temporary, arch)
    writer.add_name(name)
    writer.add_description(description)
    writer.add_license(licence)
    writer.add_file_type(file_type)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_head_count(shape.heads)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_vocab_size(shape.vocab)
    if arch == "esm2":
        writer.add_layer_norm_eps(shape.norm_eps)
        writer.add_bool("esm2.token_dropout", False)
    else:
        writer.add_head_count_kv(shape.heads)
        writer.add_layer_norm_rms_eps(shape.norm_eps)
    if not causal:
        writer.add_causal_attention(False)
        writer.add_bool("diffusion.shift_logits", shape.shift_logits)
    vocabulary.write(writer)
    for tensor_name, tensor in network.state_dict().items():
        tensor_name = "output.bias" if tensor_name == "output_bias" else tensor_name
        values = tensor.detach().to(torch.float32).numpy().astype(np.float32)
        if values.ndim < 2 or kind == "f32":
            writer.add_tensor(tensor_name, values)
        else:
            fits = values.shape[-1] % 32 == 0 or kind == "f16"
            chosen = matrix_type if fits else TYPES["f16"][0]
            writer.add_tensor(tensor_name, gguf.quants.quantize(values, chosen), raw_dtype=chosen)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(temporary, path)


def read_weights(network, path: pathlib.Path):
    """Puts the weights of a file that `write_gguf` wrote into a network of the same shape. The network may have more layers:
    those behind the file's add nothing at first, so that it computes what the file's does."""
    try:
        reader = gguf.GGUFReader(path)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{path}: not a GGUF file ({error})") from None
    # Tensors look the same however many heads they are cut into.
    heads = reader.fields.get(f"{network.architecture}.attention.head_count")
    if heads is not None and int(heads.contents()) != network.shape.heads:
        raise ValueError(f"{path}: has {int(heads.contents())} heads, the model {network.shape.heads}")
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    stored_layers = reader.fields.get(f"{network.architecture}.block_count")
    layers = network.shape.layers if stored_layers is None else int(stored_layers.contents())
    state = {}
    for name, weight in network.state_dict().items():
        if name.startswith("blk.") and int(name.split(".")[1]) >= layers:
            state[name] = torch.zeros_like(weight) if "attn_output." in name or "ffn_down." in name else weight
            continue
        stored = tensors.pop("output.bias" if name == "output_bias" else name, None)
        if stored is None:
            raise ValueError(f"{path}: has no tensor {name}")
        values = torch.from_numpy(gguf.quants.dequantize(stored.data, stored.tensor_type).astype(np.float32))
        if values.shape != weight.shape:
            raise ValueError(f"{path}: {name} is of shape {list(values.shape)}, the model's is {list(weight.shape)}")
        state[name] = values
    if tensors:
        raise ValueError(f"{path}: the model has no tensor {next(iter(tensors))}")
    network.load_state_dict(state)
