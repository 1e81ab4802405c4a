// The official OpenAI client for JavaScript against a running server: node openai_test.mjs URL
import assert from "node:assert/strict";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2] + "/v1", apiKey: "none", maxRetries: 0 });
const model = (await client.models.list()).data[0].id;
const request = { model, messages: [{ role: "user", content: "Why?" }], max_tokens: 16, seed: 1, temperature: 0.5 };

const whole = await client.chat.completions.create(request);
assert.equal(whole.choices[0].message.role, "assistant");
assert.ok(whole.usage.nfe > 0);

let text = "";
let finish = null;
for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
  text += chunk.choices[0]?.delta?.content ?? "";
  finish = chunk.choices[0]?.finish_reason ?? finish;
}
assert.equal(text, whole.choices[0].message.content);
assert.equal(finish, whole.choices[0].finish_reason);

assert.equal((await client.models.retrieve(model)).id, model);
const drawn = await client.completions.create({ model, prompt: ["a", "b"], max_tokens: 1e6, diffusion: { planner: "top-k:k=16" } });
const { seed } = drawn.usage;
const again = await client.completions.create({ model, prompt: ["a", "b"], max_tokens: 1e6, seed, diffusion: { planner: "top-k:k=16" } });
assert.deepEqual(again.choices, drawn.choices);

await assert.rejects(client.completions.create({ model, prompt: "a", max_tokens: 0 }), (error) => {
  return error instanceof OpenAI.BadRequestError && error.param === "max_tokens";
});
console.log("openai for JavaScript chats, streams and reads errors");
