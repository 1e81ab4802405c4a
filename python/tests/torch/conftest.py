"""Tests here share twin.py. Without PyTorch, `import torch` would find this folder: tests ask for torch.nn."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
