// Node's readers of the Messages API, run by `readers.py`; lines in and out as in `reading.py`.
import readline from "node:readline";
import { load, run } from "./jobs.mjs";

const [base, packages, ...only] = process.argv.slice(2);
const { default: Anthropic } = await load(packages, "@anthropic-ai/sdk");
const { createParser } = await load(packages, "eventsource-parser");

const KINDS = ["tool_use", "server_tool_use", "mcp_tool_use"];
const sdk = new Anthropic({ baseURL: base, apiKey: "fake", maxRetries: 0 });
const prompt = (number) => ({
  model: "claude-fake",
  max_tokens: 9,
  messages: [{ role: "user", content: `response-${number}-` }],
});
const post = (number) =>
  fetch(`${base}/v1/messages`, { method: "POST", body: JSON.stringify(prompt(number)) });
const blocks = (message) =>
  (message?.content ?? [])
    .filter((block) => KINDS.includes(block?.type))
    // The SDK does not collect the streamed arguments of MCP calls: they stay empty.
    .filter(({ type, input }) => type !== "mcp_tool_use" || Object.keys(input ?? {}).length)
    .map(({ name, id, input }) => ({ name, id, input }));
const parsed = (text, found) => {
  try {
    found.push(JSON.parse(text));
  } catch {}
};
const lines = (all, found) => {
  for (const line of all) {
    const trimmed = line.trim();
    if (trimmed.startsWith("data:")) parsed(trimmed.slice(5), found);
  }
};

// name, what it finds, whether it reads whole responses, reader
const READERS = [
  ["node_sdk_stream", "calls", false, async (number, found) => {
    const stream = sdk.messages.stream(prompt(number));
    try {
      for await (const _ of stream);
      await stream.finalMessage();
    } finally {
      // The message so far stays there when the stream fails.
      found.push(...blocks(stream.currentMessage ?? stream.receivedMessages.at(-1)));
    }
  }],
  ["node_sdk_events", "events", false, async (number, found) => {
    const stream = await sdk.messages.create({ ...prompt(number), stream: true });
    for await (const event of stream) found.push(event);
  }],
  ["node_sdk_whole", "calls", true, async (number, found) => {
    found.push(...blocks(await sdk.messages.create(prompt(number))));
  }],
  ["node_eventsource_parser", "events", false, async (number, found) => {
    const parser = createParser({ onEvent: (event) => parsed(event.data, found) });
    const decoder = new TextDecoder();
    for await (const chunk of (await post(number)).body) {
      parser.feed(decoder.decode(chunk, { stream: true }));
    }
    parser.reset({ consume: true });
  }],
  ["node_fetch_lf", "events", false, async (number, found) => {
    lines((await (await post(number)).text()).split("\n"), found);
  }],
  ["node_fetch_any_end", "events", false, async (number, found) => {
    lines((await (await post(number)).text()).split(/\r\n|\r|\n/), found);
  }],
  ["node_readline", "events", false, async (number, found) => {
    // Node's own line reader also splits at U+2028 and U+2029.
    const { Readable } = await import("node:stream");
    const input = Readable.fromWeb((await post(number)).body);
    const all = [];
    for await (const line of readline.createInterface({ input, crlfDelay: Infinity })) all.push(line);
    lines(all, found);
  }],
  ["node_fetch_whole", "events", true, async (number, found) => {
    found.push(await (await post(number)).json());
  }],
];

await run(READERS, only);
