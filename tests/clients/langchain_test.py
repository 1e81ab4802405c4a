"""LangChain against a running server of a model without a chat template: python langchain_test.py URL"""

import sys

import langchain_openai
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI, OpenAI

place = {"base_url": sys.argv[1] + "/v1", "api_key": "none", "max_retries": 0}

# ---- texts, with the defaults: 256 tokens, whatever the model takes
text = OpenAI(model="stories", seed=1, **place)
first = text.invoke("Once upon a time")
assert first.strip(), first
assert text.invoke("Once upon a time") == first
assert "".join(text.stream("Once upon a time")) == first
prompts = ["Once upon a time", "The dog", "Lily saw a"]
short = OpenAI(model="stories", seed=1, max_tokens=12, **place)
alone = [short.invoke(prompt) for prompt in prompts]
assert short.batch(prompts) == alone
assert [each[0].text for each in short.generate(prompts).generations] == alone
many = OpenAI(model="stories", seed=1, max_tokens=4, batch_size=20, **place).generate([f"Tom has {i}" for i in range(25)])
assert len(many.generations) == 25, many
several = OpenAI(model="stories", seed=1, max_tokens=8, n=2, best_of=2, **place).generate(prompts[:2])
assert [len(each) for each in several.generations] == [2, 2], several

# ---- chats
chat = ChatOpenAI(model="stories", seed=1, max_tokens=24, **place)
whole = chat.invoke("Once upon a time")
assert whole.content.strip() and whole.response_metadata["finish_reason"] in ("stop", "length"), whole
assert "".join(chunk.content for chunk in chat.stream("Once upon a time")) == whole.content
assert [each.content for each in chat.batch(["Once upon a time", "The dog"])][0] == whole.content
history = [SystemMessage("A story."), HumanMessage("Look."),
           AIMessage("", tool_calls=[{"id": "1", "name": "see", "args": {"what": "dog"}}]),
           ToolMessage("a dog", tool_call_id="1")]
assert chat.invoke(history).usage_metadata["input_tokens"] > whole.usage_metadata["input_tokens"]

try:
    chat.bind_tools([{"type": "function", "function": {"name": "f", "parameters": []}}]).invoke("hi")
    raise SystemExit("these tools were taken")
except Exception as error:
    assert "tools[0].function.parameters" in str(error), error
print("langchain-openai invokes, streams and batches, texts with its defaults and chats")
