# Writes the checkpoints of this folder with PyTorch, and values.safetensors with what they hold:
#   python make.py        (torch 2.15.0, safetensors 0.8.0)
import torch
from safetensors.torch import save_file

torch.manual_seed(1)
base = torch.randn(4, 6)
tensors = {
    "plain": torch.randn(2, 3),
    "transposed": torch.randn(3, 5).t(),
    "slice": base[1:3],
    "columns": base[:, 2:4],
    "turned": torch.randn(2, 3, 4).permute(2, 0, 1),
    "parameter": torch.nn.Parameter(torch.randn(5)),
    "scalar": torch.tensor(2.5),
    "empty": torch.zeros(0, 3),
    "f16": torch.randn(3).half(),
    "bf16": torch.randn(3).bfloat16(),
    "f64": torch.randn(2, 2).double(),
    "i64": torch.arange(5).expand((1, -1)),
    "i32": torch.arange(3, dtype=torch.int32),
    "truth": torch.tensor([True, False]),
}
module = torch.nn.Module()  # its state dict is an OrderedDict with attributes
for name, value in tensors.items():
    if name == "parameter":
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)
state = module.state_dict(keep_vars=True)

torch.save(state, "archive.bin")
torch.save(state, "stream.bin", _use_new_zipfile_serialization=False)
torch.save({"epoch": 3, "lr": 0.5, "name": "a", "model": state, "optimizer": {"step": 1}}, "nested.pt")
torch.save(state, "protocol4.bin", pickle_protocol=4)
save_file({name: value.detach().contiguous() for name, value in state.items()}, "values.safetensors")
