#!/usr/bin/env bash
# What requests to punt serve mean, over the wire: seeds, lengths, lists of prompts, settings, chats, models.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
source "$PUNT_SOURCE_DIR/tests/serve_testing.sh"
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
stories=$PUNT_SOURCE_DIR/models/stories.gguf

cat >client.py <<'CLIENT'
"""What the checks share: ask(path, body) gives (status, answer)."""
import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL = os.environ["URL"]


def ask(path, body=None):
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urlopen(Request(URL + path, data, {"Content-Type": "application/json"}), timeout=300) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


def complete(**body):
    status, answer = ask("/v1/chat/completions" if "messages" in body else "/v1/completions", body)
    assert status == 200, (body, answer)
    return answer


def refused(path, body):
    """The field, and what is said of it."""
    status, answer = ask(path, body)
    assert status == 400, (status, body, answer)
    return answer["error"]["param"], answer["error"]["message"]


def texts(answer):
    return [choice.get("text", choice.get("message", {}).get("content")) for choice in answer["choices"]]


def streamed(**body):
    """The texts of a stream by index, its finish reasons, and the last usage."""
    body |= {"stream": True, "stream_options": {"include_usage": True}}
    parts, reasons, usage = {}, {}, None
    path = "/v1/chat/completions" if "messages" in body else "/v1/completions"
    request = Request(URL + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    for line in urlopen(request, timeout=300):
        if not line.startswith(b"data: {"):
            continue
        chunk = json.loads(line[6:])
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            text = choice["text"] if "text" in choice else choice["delta"].get("content", "")
            parts[choice["index"]] = parts.get(choice["index"], "") + text
            reasons[choice["index"]] = choice["finish_reason"] or reasons.get(choice["index"])
    return [parts[index] for index in sorted(parts)], [reasons[index] for index in sorted(reasons)], usage
CLIENT

# checks NAME: the program on the standard input, against $url
checks() {
  URL=$url SERVER=$server PYTHONPATH=$folder python3 - >checked 2>&1 || fail "$1: $(tail -n 5 checked)"
}

start api --model "$stories"

checks "a drawn seed gives its answer again" <<'CHECK'
from client import complete, texts
for _ in range(50):
    first = complete(prompt="Once", max_tokens=6)
    seed = first["usage"]["seed"]
    assert seed == int(float(seed)) < 2**53, seed
    assert texts(complete(prompt="Once", max_tokens=6, seed=float(seed))) == texts(first), seed
for seed in (-1, -2**63, 2**63, 2**64 - 1):
    assert complete(prompt="Once", max_tokens=2, seed=seed)["usage"]["seed"] == seed
CHECK

checks "the seconds of an answer hold those of its passes" <<'CHECK'
from client import URL, complete
from urllib.request import urlopen


def forward_seconds():
    lines = urlopen(URL + "/metrics").read().decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("punt_forward_seconds_sum "))


for seed in range(100):
    before = forward_seconds()
    usage = complete(prompt="Once", max_tokens=6, seed=seed)["usage"]
    assert usage["seconds"] >= forward_seconds() - before > 0, (usage, forward_seconds() - before)
CHECK

checks "lengths are cut to what fits" <<'CHECK'
from client import ask, complete, refused, streamed, texts
fast = {"planner": "top-k:k=64"}
alone = complete(prompt="Once upon", max_tokens=-1, seed=1, diffusion=fast)
given = alone["usage"]["prompt_tokens"]
for length in (256, 4096, 10**9, 1e300, 2**64):
    again = complete(prompt="Once upon", max_tokens=length, seed=1, diffusion=fast)
    assert texts(again) == texts(alone), length
full = complete(prompt="Once upon", max_tokens=4096, seed=1, diffusion=fast | {"eos": "forbid"})
assert full["usage"]["completion_tokens"] == 256 - given, full["usage"]
assert full["choices"][0]["finish_reason"] == "length", full
assert streamed(prompt="Once upon", max_completion_tokens=4096, seed=1, diffusion=fast)[0] == texts(alone)
for length in (0, -2, 1.5, "5"):
    field, said = refused("/v1/completions", {"prompt": "a", "max_tokens": length})
    assert field == "max_tokens" and "at least 1" in said, said
for path, body, wanted in (("/v1/completions", {"prompt": "dog " * 300, "max_tokens": 5}, "prompt"),
                           ("/v1/completions", {"prompt": ["a", "dog " * 300]}, "prompt[1]"),
                           ("/v1/completions", {"prompt": "a", "suffix": "dog " * 300}, "suffix"),
                           ("/v1/chat/completions", {"messages": [{"role": "user", "content": "dog " * 300}]}, "messages")):
    field, said = refused(path, body)
    assert field == wanted and "256" in said and "--" not in said, (field, said)
CHECK

checks "prompts in lists give what they give alone" <<'CHECK'
from client import ask, complete, refused, streamed, texts
settings = {"max_tokens": 10, "seed": 7, "temperature": 0.9}
prompts = ["Once upon a time", "The dog", "", "Lily saw a"]
for n in (1, 2):
    alone = [complete(prompt=prompt, n=n, **settings) for prompt in prompts]
    together = complete(prompt=prompts, n=n, **settings)
    wanted = [text for answer in alone for text in texts(answer)]
    assert texts(together) == wanted, (texts(together), wanted)
    assert [choice["index"] for choice in together["choices"]] == list(range(n * len(prompts)))
    for count in ("prompt_tokens", "completion_tokens", "total_tokens", "nfe", "steps"):
        assert together["usage"][count] == sum(answer["usage"][count] for answer in alone), count
    stream, reasons, usage = streamed(prompt=prompts, n=n, **settings)
    assert stream == wanted and usage["total_tokens"] == together["usage"]["total_tokens"], stream
    assert reasons == [choice["finish_reason"] for choice in together["choices"]], reasons
assert texts(complete(prompt=["The dog"] * 3, **settings)) == texts(complete(prompt="The dog", n=3, **settings))
assert len(texts(complete(prompt=["a"] * 20, max_tokens=2))) == 20

tokens = [ask("/tokenize", {"content": prompt, "add_special": True})[1]["tokens"] for prompt in prompts]
assert texts(complete(prompt=tokens, **settings)) == texts(complete(prompt=prompts, **settings))
assert texts(complete(prompt=tokens[0], **settings)) == texts(complete(prompt=prompts[0], **settings))
props = ask("/props")[1]["model"]
for wrong in ([0, props["vocab_size"]], [0, props["mask_token"]], [], [[]], [1, "a"], [-1], [1.5], ["a"] * 65, 5):
    field, said = refused("/v1/completions", {"prompt": wrong})
    assert field.startswith("prompt") and len(said) < 200, (field, said)
field, said = refused("/v1/completions", {"prompt": ["a"] * 64, "n": 16})
assert field == "prompt" and "1024" in said, said
CHECK

checks "constraints" <<'CHECK'
import json
import os
import re
import time
from client import ask, complete, refused, streamed, texts
schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 1}},
          "required": ["name", "age"], "additionalProperties": False}
base = {"prompt": "Lily", "max_tokens": 40, "seed": 4}
for asked in ({"response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": schema}}},
              {"guided_json": schema}, {"guided_json": json.dumps(schema)}, {"structured_outputs": {"json": schema}}):
    answer = texts(complete(**base, n=2, **asked))
    for text in answer:
        value = json.loads(text)
        assert list(value) == ["name", "age"] and len(value["name"]) <= 8 and value["age"] >= 1, text
    assert "".join(streamed(**base, **asked)[0]) == answer[0]
chat = {"messages": [{"role": "user", "content": "Lily"}], "max_tokens": 40, "seed": 4}
assert isinstance(json.loads(texts(complete(**chat, response_format={"type": "json_object"}))[0]), dict)
assert texts(complete(**base, guided_choice=["yes", "no"]))[0] in ("yes", "no")
assert texts(complete(**base, guided_regex="[0-9]{4}"))[0].isdigit()
assert re.fullmatch("[a-z]{3} is [0-9]{1,2} years old", texts(complete(**base, guided_template="{a:[a-z]{3}} is {b:int 1..99} years old"))[0])
assert refused("/v1/completions", {**base, "guided_template": "{a:int"})[0] == "guided_template"
assert texts(complete(**base, response_format={"type": "text"})) == texts(complete(**base))
assert "takes" in refused("/v1/completions", {**base, "max_tokens": 3, "guided_json": schema})[1]
def peak():
    """What the server has used at most, in MB."""
    with open(f"/proc/{os.environ['SERVER']}/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1]) / 1024


deep = {"$defs": {"a": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/a"}}] * 30 + [{"type": "null"}]}}, "$ref": "#/$defs/a"}
wide = {"type": "object", "required": [f"k{i}" for i in range(1500)], "properties": {f"k{i}": {"type": "string", "maxLength": 2000} for i in range(1500)}}
twice = {"$defs": {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"properties": {f"p{i}": {"$ref": f"#/$defs/d{i + 1}"}}}]} for i in range(40)}}
twice = {**twice, "$defs": {**twice["$defs"], "d40": {}}, "$ref": "#/$defs/d0"}
crossed = {"oneOf": [{"type": "object", "required": [f"r{i}"], "properties": {f"r{j}": {} for j in range(60)}} for i in range(60)]}
patterns = {"type": "object", "patternProperties": {f"^(a|b)*a(a|b){{{i}}}$": {} for i in range(8, 40)}, "minProperties": 1}
unique = {"type": "array", "uniqueItems": True, "items": {"enum": list(range(15000))}, "minItems": 60}
assert isinstance(json.loads(texts(complete(**base, guided_json=deep))[0]), (list, type(None)))  # alike branches are one
value = json.loads(texts(complete(**base, guided_json=crossed))[0])
assert sum(f"r{i}" in value for i in range(60)) == 1, value
for field, value in (("guided_regex", "(a|b)*a(a|b){30}"), ("guided_regex", "((a{1000}){1000}){1000}"), ("guided_regex", "(" * 5000),
                     ("guided_regex", ".{5000}" * 9), ("guided_regex", "(.*a.{12}){2}|(.*b.{12}){2}"), ("guided_regex", "[^a]{9999}b{9999}"),
                     ("guided_template", "{:(a|b)*a(a|b){30}}"), ("guided_template", "{:.{9000}}" * 40), ("guided_template", "{:json}" * 2000),
                     ("guided_choice", ["a" * 60000, "b" * 60000]), ("guided_choice", ["a"] * 10001),
                     ("guided_json", {"type": "array", "items": {"type": "string", "minLength": 9000}, "minItems": 9000}),
                     ("guided_json", wide), ("guided_json", twice), ("guided_json", patterns), ("guided_json", unique),
                     ("guided_json", {"allOf": [{"$ref": "#"}]}), ("guided_json", {"type": "integer", "minimum": 3, "maximum": 2}),
                     ("guided_json", {"enum": ["a"], "type": "integer"}), ("guided_json", {"if": {}, "then": False, "else": False})):
    before, start = peak(), time.monotonic()
    assert refused("/v1/completions", {**base, field: value})[0] == field, (field, str(value)[:100])
    print(f"{field} {str(value)[:40]}: refused in {time.monotonic() - start:.2f} s, {peak() - before:.0f} MB more")
    assert peak() - before < 400, (field, str(value)[:100])
CHECK

checks "settings" <<'CHECK'
from client import ask, complete, refused, texts
for name, value in (("presence_penalty", 0.5), ("frequency_penalty", 1), ("repetition_penalty", 1.1), ("functions", [{}]),
                    ("grammar", "root ::= 'a'"), ("guided_grammar", "a"), ("top_a", 0.1), ("ignore_eos", True),
                    ("modalities", ["audio"]), ("prediction", {"type": "content"}), ("prompt_logprobs", 1), ("n_probs", 2)):
    field, said = refused("/v1/completions", {"prompt": "a", name: value})
    assert field == name and "not supported" in said, (name, field, said)
base = {"prompt": "The dog", "max_tokens": 40, "seed": 4}
plain = texts(complete(**base))
# As Open WebUI and others do.
extras = {"user": "u", "metadata": {"a": 1}, "store": False, "tools": [], "tool_choice": "auto", "logit_bias": {},
          "presence_penalty": 0, "frequency_penalty": 0.0, "stream_options": None, "logprobs": None, "chat_id": "1",
          "session_id": "2", "top_k": 0}
answer = complete(**base, **extras)
assert texts(answer) == plain and answer["ignored"] == ["chat_id", "session_id"], answer
assert texts(complete(**base, top_k=1)) == texts(complete(**base, temperature=0)) != plain
assert texts(complete(**base, diffusion={"top_k": 1})) == texts(complete(**base, top_k=1.0))
assert refused("/v1/completions", b'{"temperature": NaN}')[1] == "NaN is not JSON"
assert refused("/v1/completions", b'{"diffusion": {"window": 1, "eos": "none", "window": 2}}')[1] == "the body names 'window' twice"
field, said = refused("/v1/completions", {"diffusion": {"planner": "x" * 100_000}})
assert field == "diffusion.planner" and len(said) < 200, said
assert refused("/v1/completions", {"seed": 2**64})[1] == "seed must be a whole number from -2^63 to 2^64-1"
CHECK
grep -q '"ignored":\["chat_id","session_id"\]' api.log || fail "the log does not say what was ignored"

checks "chats without a template" <<'CHECK'
from client import ask, complete, refused, streamed, texts
assert ask("/props")[1]["chat_template"] == "plain"
settings = {"max_tokens": 12, "seed": 3}
talk = [{"role": "user", "content": "Once upon a time"}]
assert texts(complete(messages=talk, **settings))[0] == texts(complete(prompt="Once upon a time", **settings))[0].lstrip(" ")
assert streamed(messages=talk, **settings)[0] == texts(complete(messages=talk, **settings))
history = [{"role": "system", "content": "A story."}, {"role": "user", "content": [{"type": "text", "text": "Look"}]},
           {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "see", "arguments": "{}"}}]},
           {"role": "tool", "tool_call_id": "1", "content": "a dog"}]
told = 'A story.\nLook\n<tool_call>\n{"name": "see", "arguments": {}}\n</tool_call>\n<tool_response>\na dog\n</tool_response>'
assert texts(complete(messages=history, **settings))[0] == texts(complete(prompt=told, **settings))[0].lstrip(" ")
field, said = refused("/v1/chat/completions", {"messages": history[:2] + history[3:]})
assert field == "messages[2].tool_call_id" and "'1'" in said, said
field, said = refused("/v1/chat/completions", {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]})
assert field == "messages[0].content[0]" and "image_url" in said, said
CHECK

checks "tools" <<'CHECK'
import json
from client import ask, complete, refused
def tool(parameters):
    return {"function": {"name": "f", "parameters": parameters}}


day = tool({"properties": {"day": {"type": "integer", "minimum": 1, "maximum": 31}}, "required": ["day"]})
talk = {"messages": [{"role": "user", "content": "When?"}], "seed": 1}
for choice in ("required", {"type": "function", "function": {"name": "f"}}):
    answer = complete(**talk, tools=[day], tool_choice=choice, parallel_tool_calls=False, n=2)
    for choice in answer["choices"]:
        (call,) = choice["message"]["tool_calls"]
        assert choice["finish_reason"] == "tool_calls" and choice["message"]["content"] is None, choice
        assert call["function"]["name"] == "f" and 1 <= json.loads(call["function"]["arguments"])["day"] <= 31, call
assert "tool_calls" not in complete(**talk, tools=[day], tool_choice="none", max_tokens=8)["choices"][0]["message"]
for field, more in (("tools[0].function.parameters", {"tools": [tool({"properties": {"a": {"not": {}}}})]}),
                    ("tools[1].function.name", {"tools": [day, day]}), ("tools", {"tools": [day], "max_tokens": 4}),
                    ("tool_choice.function.name", {"tools": [day], "tool_choice": {"function": {"name": "g"}}}),
                    ("tool_choice", {"tool_choice": "required"})):
    assert refused("/v1/chat/completions", {"tool_choice": "required", **talk, **more})[0] == field, field
CHECK

checks "responses" <<'CHECK'
import json
from urllib.request import Request, urlopen
from client import URL, ask, complete, refused, texts
base = {"input": "Once upon a time", "seed": 3, "max_output_tokens": 12}
status, answer = ask("/v1/responses", base)
chat = complete(messages=[{"role": "user", "content": base["input"]}], seed=3, max_tokens=12)
assert status == 200 and answer["object"] == "response" and answer["id"].startswith("resp_"), answer
assert [part["text"] for item in answer["output"] for part in item["content"]] == texts(chat), (answer, chat)
assert answer["usage"]["output_tokens"] == chat["usage"]["completion_tokens"], answer
assert (answer["status"] == "incomplete") == (chat["choices"][0]["finish_reason"] == "length"), (answer, chat)
request = Request(URL + "/v1/responses", json.dumps(base | {"stream": True}).encode(), {"Content-Type": "application/json"})
lines = urlopen(request).read().decode().split("\n\n")
events = [json.loads(line.split("\ndata: ")[1]) for line in lines if line.startswith("event: ")]
assert [event["sequence_number"] for event in events] == list(range(len(events)))
assert "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta") == texts(chat)[0]
assert events[0]["type"] == "response.created" and events[-1]["response"]["status"] == answer["status"], events
said = {"text": {"format": {"type": "json_schema", "name": "n", "schema": {"enum": ["yes", "no"]}}}}
assert json.loads(ask("/v1/responses", base | said)[1]["output"][0]["content"][0]["text"]) in ("yes", "no")
for field, more in (("input", {"input": None}), ("input[0].type", {"input": [{"type": "image"}]}),
                    ("input[0].content[0]", {"input": [{"role": "user", "content": [{"type": "input_image"}]}]}),
                    ("input[1].call_id", {"input": [{"role": "user", "content": "a"}, {"type": "function_call_output", "call_id": "x", "output": "y"}]}),
                    ("input[0].role", {"input": [{"role": "king", "content": "a"}]}), ("previous_response_id", {"previous_response_id": "x"}),
                    ("max_output_tokens", {"max_output_tokens": 0}), ("messages", {"messages": []}), ("tools[0].name", {"tools": [{"type": "function"}]}),
                    ("text.format.schema", {"text": {"format": {"type": "json_schema", "schema": 3}}}),
                    ("text.format", {"text": {"format": {"type": "json_schema", "schema": {"not": {}}}}}),
                    ("diffusion.stream", {"diffusion": {"stream": "events"}}), ("background", {"background": True})):
    assert refused("/v1/responses", base | more)[0] == field, (field, refused("/v1/responses", base | more))
CHECK

checks "the model" <<'CHECK'
import time
from client import ask, complete
status, answer = ask("/v1/models")
card = answer["data"][0]
assert card["id"] == "stories" == complete(prompt="a", max_tokens=1)["model"], card
assert card["max_model_len"] == 256 and 0 <= time.time() - card["created"] < 600, card
assert ask("/v1/models/stories") == (200, card)
for other in ("other", "stories.gguf", "models/stories", "stories/"):
    status, answer = ask("/v1/models/" + other)
    assert status == 404 and answer["error"]["code"] in ("model_not_found", "not_found"), answer
CHECK
stop
! grep -q "$PUNT_SOURCE_DIR" api.log || fail "the log tells where the model lies"

# ---- an alias; no chats; a limit below what is usual
start alias --model "$stories" --alias org/tale --chat-template none --max-tokens 5 --max-waiting 4
checks "alias" <<'CHECK'
from client import ask, complete, refused
card = ask("/v1/models")[1]["data"][0]
assert card["id"] == "org/tale" and ask("/v1/models/org/tale") == ask("/v1/models/org%2Ftale") == (200, card), card
assert ask("/props")[1]["chat_template"] == "none"
assert refused("/v1/chat/completions", {"messages": [{"role": "user", "content": "a"}]})[0] == "messages"
for more in ({}, {"max_tokens": 100}, {"max_tokens": -1}):
    answer = complete(prompt="Once", diffusion={"eos": "forbid"}, **more)
    assert answer["usage"]["completion_tokens"] == 5, answer
    assert answer["model"] == "org/tale"
assert refused("/v1/completions", {"prompt": "a", "n": 5})[0] == "n"  # more than could ever wait
CHECK
stop

# ---- a template of its own; a path is not told to clients; special tokens in messages are text
start templated --model "$PUNT_SOURCE_DIR/tests/golden/llada"
checks "a model in a folder" <<'CHECK'
from client import ask, complete, refused
assert ask("/props")[1]["chat_template"] == "model"
assert ask("/v1/models")[1]["data"][0]["id"] == "llada"
for body in ({"prompt": "the " * 1000}, {"prompt": "a", "suffix": "the " * 1000}):
    assert "/" not in refused("/v1/completions", body)[1]
talk = lambda text: complete(messages=[{"role": "user", "content": text}], max_tokens=2)["usage"]["prompt_tokens"]
assert talk("<|eot_id|><|start_header_id|>system") > talk("hi") + 3
CHECK
stop
# ---- a template that knows tools: what it is given is what Jinja makes of the same conversation
mkdir qwen
cp "$PUNT_SOURCE_DIR"/tests/golden/dream/* qwen
python3 - "$PUNT_SOURCE_DIR/tests/golden/chat_templates/cases.json" >case.json <<'FOLDER'
import json
import sys
case = next(case for case in json.load(open(sys.argv[1])) if case["name"] == "Tools: Qwen 2.5")
open("qwen/chat_template.jinja", "w").write(case["template"])
config = json.load(open("qwen/config.json"))
json.dump(config | {"max_position_embeddings": 2048}, open("qwen/config.json", "w"))  # rotated positions, without a table
json.dump(case, sys.stdout)
FOLDER
start tools --model qwen
checks "tools in a template of its own" <<'CHECK'
import json
from client import ask, complete, refused
case = json.load(open("case.json"))
for message in case["messages"]:
    for call in message.get("tool_calls", []):
        call["function"]["arguments"] = json.dumps(call["function"]["arguments"])
told = ask("/tokenize", {"content": case["text"]})[1]["tokens"]
fast = {"planner": "top-k:k=64"}
talk = {"messages": case["messages"], "tools": case["tools"], "seed": 1, "diffusion": fast}
for choice in ("auto", "required"):
    answer = complete(**talk, tool_choice=choice, max_tokens=150)
    assert answer["usage"]["prompt_tokens"] == len(told), (answer["usage"], len(told))
for call in answer["choices"][0]["message"]["tool_calls"]:
    arguments = json.loads(call["function"]["arguments"])
    assert call["function"]["name"] == "wait" and arguments == {} or arguments["of"] in ("a", "b"), call
bare = complete(**talk, tool_choice="none", max_tokens=1)["usage"]["prompt_tokens"]
assert bare < len(told) - 100, bare
# Words of a tool are no control tokens.
named = lambda text: complete(messages=case["messages"][1:2], tools=[{"function": {"name": "f", "description": text}}], max_tokens=1)
assert named("<|im_end|>")["usage"]["prompt_tokens"] > named("a")["usage"]["prompt_tokens"] + 3
CHECK
stop
refuses "--chat-template" serve --chat-template other

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
