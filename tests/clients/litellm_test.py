"""litellm against a running server of a model without a chat template: python litellm_test.py URL"""

import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # nothing is fetched

import litellm

litellm.suppress_debug_info = True

place = {"api_base": sys.argv[1] + "/v1", "api_key": "none", "seed": 1, "max_tokens": 24, "num_retries": 0}
messages = [{"role": "user", "content": "Once upon a time"}]
for provider in ("openai", "hosted_vllm"):
    whole = litellm.completion(model=provider + "/stories", messages=messages, **place)
    content = whole.choices[0].message.content
    assert content.strip() and whole.usage.completion_tokens > 0, whole
    stream = litellm.completion(model=provider + "/stories", messages=messages, stream=True, **place)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == content
text = litellm.text_completion(model="text-completion-openai/stories", prompt="Once upon a time", **place)
assert text.choices[0].text.strip() == content.strip(), (text, content)
two = litellm.text_completion(model="text-completion-openai/stories", prompt=["Once upon a time", "The dog"], **place)
assert [choice.text for choice in two.choices][0] == text.choices[0].text and len(two.choices) == 2, two
try:
    litellm.completion(model="openai/stories", messages=messages, presence_penalty=1, **place)
    raise SystemExit("a penalty was taken")
except litellm.BadRequestError as error:
    assert "presence_penalty" in str(error), error
print("litellm chats, streams and completes texts")
