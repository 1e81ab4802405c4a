"""instructor, which has an openai of its own: python instructor_test.py URL"""

import sys
from importlib.metadata import version
from typing import Literal

import instructor
import openai
from pydantic import BaseModel, Field


class Pet(BaseModel):
    """A pet of a child."""

    name: str = Field(max_length=12)
    kind: Literal["dog", "cat"]
    ages: list[int] = Field(min_length=1, max_length=3)


client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0)
ask = [{"role": "user", "content": "Tell me of Tom's dog."}]
for mode in (instructor.Mode.JSON_SCHEMA, instructor.Mode.TOOLS):
    patched = instructor.from_openai(client, mode=mode)
    for seed in range(3):
        pet = patched.chat.completions.create(model="tasks", messages=ask, response_model=Pet, max_tokens=200, seed=seed,
                                              max_retries=0)
        assert isinstance(pet, Pet), (mode, pet)
print("instructor", version("instructor"), "reads JSON_SCHEMA and TOOLS")
