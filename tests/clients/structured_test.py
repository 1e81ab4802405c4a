"""Answers in a shape, and tools, for clients that were written for OpenAI's own models: python structured_test.py URL

The model is tasks, which has learned neither: that all of this parses is the constraints' doing. A model that had would
give better answers, not more valid ones."""

import json
import sys
from enum import Enum
from typing import Literal, Optional

import openai
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

url = sys.argv[1]
client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)


class Colour(Enum):
    red = "red"
    blue = "blue"


class Pet(BaseModel):
    """A pet of a child."""

    name: str = Field(max_length=12)
    kind: Literal["dog", "cat"]
    colour: Colour
    age: Optional[int] = Field(default=None, ge=0, le=20)


class Child(BaseModel):
    name: str = Field(max_length=12)
    pets: list[Pet] = Field(max_length=2)


class Walk(BaseModel):
    who: Literal["Tom", "Lily"]
    day: int = Field(ge=1, le=31)


ask = [{"role": "user", "content": "Tell me of Tom and his pets."}]
usual = {"model": "tasks", "max_tokens": 200, "temperature": 1}
short = {"max_tokens": 24, "extra_body": {"diffusion": {"eos": "forbid"}}}  # tasks would rather say nothing

# ---- openai: pydantic models as response_format, whole, streamed, and by the newer API
for seed in range(5):
    parsed = client.chat.completions.parse(messages=ask, response_format=Child, seed=seed, **usual)
    assert isinstance(parsed.choices[0].message.parsed, Child), parsed
with client.chat.completions.stream(messages=ask, response_format=Child, seed=1, **usual) as stream:
    pieces = [event.delta for event in stream if event.type == "content.delta"]
    final = stream.get_final_completion().choices[0].message
assert isinstance(final.parsed, Child) and "".join(pieces) == final.content, final
responses = {"model": "tasks", "max_output_tokens": 200}
answer = client.responses.create(input="Tell me of Tom.", instructions="Be brief.", extra_body={"seed": 3}, **responses)
same = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Tell me of Tom."}]
chat = client.chat.completions.create(messages=same, seed=3, **usual)
assert answer.output_text == chat.choices[0].message.content, (answer, chat)
assert answer.usage.total_tokens == chat.usage.total_tokens and answer.status in ("completed", "incomplete"), answer
text, last = "", None
for event in client.responses.create(input=same, stream=True, extra_body={"seed": 3}, **responses):
    text += event.delta if event.type == "response.output_text.delta" else ""
    last = event
assert text == answer.output_text and last.type in ("response.completed", "response.incomplete"), (text, last)
assert last.response.output_text == text and last.response.usage.total_tokens == answer.usage.total_tokens, last
child = client.responses.parse(input=ask, text_format=Child, extra_body={"seed": 4}, **responses)
assert isinstance(child.output_parsed, Child), child

# ---- openai: a call, what the tool says, an answer
look = {"type": "function", "function": {
    "name": "look_up", "parameters": {"type": "object", "required": ["pet", "day"], "properties": {
        "pet": {"enum": ["Rex", "Tibbles"]}, "day": {"type": "integer", "minimum": 1, "maximum": 31}}}}}
wait = {"type": "function", "function": {"name": "wait"}}
for choice in ("required", {"type": "function", "function": {"name": "look_up"}}):
    called = client.chat.completions.create(messages=ask, tools=[look, wait], tool_choice=choice,
                                            parallel_tool_calls=False, seed=1, **usual).choices[0]
    assert called.finish_reason == "tool_calls" and len(called.message.tool_calls) == 1, called
    call = called.message.tool_calls[0]
    arguments = json.loads(call.function.arguments)
    if call.function.name == "look_up":
        assert arguments["pet"] in ("Rex", "Tibbles") and 1 <= arguments["day"] <= 31 and len(arguments) == 2, call
    else:
        assert call.function.name == "wait" and arguments == {} and choice == "required", call
history = [*ask, called.message, {"role": "tool", "tool_call_id": call.id, "content": "asleep"}]
told = client.chat.completions.create(messages=history, tools=[look], seed=1, **usual | short)
assert told.choices[0].message.content or told.choices[0].message.tool_calls, told
streamed = {}
for chunk in client.chat.completions.create(messages=ask, tools=[look, wait], tool_choice="required", seed=2,
                                            stream=True, **usual):
    for delta in chunk.choices[0].delta.tool_calls or []:
        one = streamed.setdefault(delta.index, {"id": delta.id, "name": "", "arguments": ""})
        one["name"] += delta.function.name or ""
        one["arguments"] += delta.function.arguments or ""
    finish = chunk.choices[0].finish_reason
whole = client.chat.completions.create(messages=ask, tools=[look, wait], tool_choice="required", seed=2, **usual)
calls = whole.choices[0].message.tool_calls
assert finish == "tool_calls" and [(one["name"], one["arguments"]) for one in streamed.values()] == [
    (call.function.name, call.function.arguments) for call in calls], (streamed, calls)
free = client.chat.completions.create(messages=ask, tools=[look], seed=2, **usual | short).choices[0]
assert free.message.content or free.message.tool_calls, free
flat = {"type": "function", "strict": True, **look["function"]}
item = client.responses.create(input=ask, tools=[flat], tool_choice="required", parallel_tool_calls=False, **responses).output[0]
assert item.type == "function_call" and json.loads(item.arguments)["pet"], item
again = client.responses.create(
    input=[*ask, item.to_dict(), {"type": "function_call_output", "call_id": item.call_id, "output": "asleep"}],
    tools=[flat], tool_choice="none", extra_body=short["extra_body"], **responses | {"max_output_tokens": 24})
assert again.output_text, again

# ---- what is wrong is named
def refused(param, **request):
    try:
        client.chat.completions.create(**{"messages": ask, **usual, **request})
    except openai.BadRequestError as error:
        assert error.param == param, (error.param, error)
        return error.message
    raise SystemExit(f"{request} was taken")


def tool(parameters):
    return {"type": "function", "function": {"name": "f", "parameters": parameters}}


refused("tools[1].function.name", tools=[look, look])
refused("tools[0].function.parameters", tool_choice="required", tools=[tool({"properties": {"a": {"not": {}}}})])
refused("tool_choice.function.name", tools=[look], tool_choice={"type": "function", "function": {"name": "g"}})
refused("messages[1].tool_call_id", messages=[*ask, {"role": "tool", "tool_call_id": "x", "content": "y"}])
refused("tools", tools=[look], tool_choice="required", max_tokens=3)

# ---- LangChain: structured output in each of its ways, and tools
chat = ChatOpenAI(base_url=url + "/v1", api_key="none", model="tasks", seed=1, max_tokens=200, max_retries=0)
for method in ("json_schema", "function_calling"):
    walk = chat.with_structured_output(Walk, method=method).invoke("Tell me of Tom.")
    assert isinstance(walk, Walk), (method, walk)
    assert isinstance(list(chat.with_structured_output(Walk, method=method).stream("Tell me of Tom."))[-1], Walk)
raw = chat.with_structured_output(Walk.model_json_schema(), method="json_schema").invoke("Tell me of Tom.")
assert Walk.model_validate(raw), raw
raw = chat.with_structured_output(None, method="json_mode").invoke("Tell me of Tom as JSON.")
assert isinstance(raw, dict), raw
message = chat.bind_tools([look, wait], tool_choice="look_up").invoke("Where is Rex?")
assert message.tool_calls[0]["name"] == "look_up" and message.tool_calls[0]["args"]["pet"] in ("Rex", "Tibbles"), message
after = chat.bind(extra_body=short["extra_body"], max_tokens=24).invoke([HumanMessage("Where is Rex?"), message, ToolMessage("asleep", tool_call_id=message.tool_calls[0]["id"])])
assert after.content, after
print("openai and LangChain parse pydantic models, call tools and are answered; /v1/responses too")
