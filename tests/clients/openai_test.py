"""The official OpenAI client for Python against a running server: python openai_test.py URL"""

import sys

import openai
from prometheus_client.parser import text_string_to_metric_families
from urllib.request import urlopen

url = sys.argv[1]
client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
model = client.models.list().data[0].id
messages = [{"role": "user", "content": "Why is the sky blue?"}]

whole = client.chat.completions.create(model=model, messages=messages, max_tokens=16, seed=1, temperature=0.5)
assert whole.choices[0].message.role == "assistant", whole
assert whole.choices[0].finish_reason in ("stop", "length"), whole
assert whole.usage.completion_tokens <= 16 and whole.usage.model_extra["nfe"] > 0, whole.usage

stream = client.chat.completions.create(
    model=model, messages=messages, max_tokens=16, seed=1, temperature=0.5, stream=True,
    stream_options={"include_usage": True})
text, usage, finish = "", None, None
for chunk in stream:
    usage = chunk.usage or usage
    for choice in chunk.choices:
        text += choice.delta.content or ""
        finish = choice.finish_reason or finish
assert text == whole.choices[0].message.content, (text, whole)
assert usage.total_tokens == whole.usage.total_tokens and finish == whole.choices[0].finish_reason, usage

sure = client.chat.completions.create(model=model, messages=messages, max_tokens=8, seed=1, logprobs=True, top_logprobs=3)
content = sure.choices[0].logprobs.content
assert "".join(token.token for token in content) == sure.choices[0].message.content, sure
assert all(token.logprob <= 0 and len(token.top_logprobs) == 3 for token in content), content
assert all(token.model_extra["step"] >= 0 and token.model_extra["entropy"] >= 0 for token in content), content
scored = client.completions.create(model=model, prompt="the cat", max_tokens=0, echo=True, logprobs=1)
assert scored.choices[0].text == "the cat", scored
assert all(value < 0 for value in scored.choices[0].logprobs.token_logprobs if value is not None), scored
assert scored.usage.model_extra["nfe"] == sum(value is not None for value in scored.choices[0].logprobs.token_logprobs)

several = client.completions.create(model=model, prompt="the ", max_tokens=8, n=3, seed=2,
                                    extra_body={"diffusion": {"planner": "top-k:k=2"}})
assert [choice.index for choice in several.choices] == [0, 1, 2], several

assert client.models.retrieve(model).id == model
try:
    client.models.retrieve("other")
    raise SystemExit("there is another model")
except openai.NotFoundError as error:
    assert error.code == "model_not_found", error

listed = client.completions.create(model=model, prompt=["the ", "a "], max_tokens=10**6, n=2, seed=2,
                                   extra_body={"diffusion": {"planner": "top-k:k=16"}})
assert [choice.index for choice in listed.choices] == [0, 1, 2, 3], listed

for wrong, kind in (({"max_tokens": 0}, openai.BadRequestError), ({"extra_body": {"diffusion": {"planner": "x"}}}, openai.BadRequestError)):
    try:
        client.completions.create(model=model, prompt="the ", **wrong)
        raise SystemExit(f"{wrong} was taken")
    except kind as error:
        assert error.param in ("max_tokens", "diffusion.planner"), error

families = {family.name: family for family in text_string_to_metric_families(urlopen(url + "/metrics").read().decode())}
passes = sum(sample.value for sample in families["punt_nfe"].samples)
counted = sum(answer.usage.model_extra["nfe"] for answer in (whole, sure, scored, several, listed)) + usage.model_extra["nfe"]
assert passes == counted, (passes, counted)
figures = {sample.name: sample.value for name in ("punt_batch_sequences", "punt_forward_seconds") for sample in families[name].samples}
assert figures["punt_batch_sequences_sum"] == passes, (figures, passes)
assert figures["punt_batch_sequences_count"] == figures["punt_forward_seconds_count"] <= passes, (figures, passes)
assert figures["punt_forward_seconds_sum"] > 0, figures
print("openai", openai.__version__, "chats, streams and reads errors;", len(families), "metrics parse")
