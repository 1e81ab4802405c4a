"""Tests here share twin.py and tiny_models.py."""

import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # models are tiny: threads would only wait for each other

sys.path.insert(0, str(Path(__file__).parent))
