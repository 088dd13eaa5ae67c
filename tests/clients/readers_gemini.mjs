// Google's SDK for Gemini in Node, run by `readers_gemini.py`; lines in and out as in `reading.py`.
import { load, run } from "./jobs.mjs";

const [base, packages, ...only] = process.argv.slice(2);
const { GoogleGenAI } = await load(packages, "@google/genai");

const sdk = new GoogleGenAI({ apiKey: "fake", httpOptions: { baseUrl: base, retryOptions: { attempts: 1 } } });
const prompt = (number) => ({ model: "m", contents: `response-${number}-` });
const parts = (answer) => (answer.candidates ?? []).flatMap((candidate) => candidate?.content?.parts ?? []);

await run([
  ["node_sdk_stream", "parts", false, async (number, found) => {
    for await (const chunk of await sdk.models.generateContentStream(prompt(number))) found.push(...parts(chunk));
  }],
  ["node_sdk_chat", "parts", false, async (number, found) => {
    const stream = await sdk.chats.create({ model: "m" }).sendMessageStream({ message: prompt(number).contents });
    // As most programs do.
    for await (const chunk of stream) found.push(...(chunk.functionCalls ?? []).map((functionCall) => ({ functionCall })));
  }],
  ["node_sdk_whole", "parts", true, async (number, found) => {
    found.push(...parts(await sdk.models.generateContent(prompt(number))));
  }],
], only);
