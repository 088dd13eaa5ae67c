// What the readers in Node have in common: packages, and the lines that go in and out.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import readline from "node:readline";

const JOBS = 4;

// A package of the folder `packages`.
export const load = (packages, name) =>
  import(pathToFileURL(createRequire(packages + "/").resolve(name)));

// Runs readers, each [name, what it finds, whether it reads whole responses, function].
export const run = async (readers, only) => {
  const jobs = [];
  for await (const line of readline.createInterface({ input: process.stdin })) jobs.push(JSON.parse(line));
  for (const [reader, finds, whole, read] of readers) {
    if (only.length && !only.includes(reader)) continue;
    const numbers = jobs.filter((job) => job.whole === whole).map((job) => job.number);
    const worker = async () => {
      while (numbers.length) {
        const number = numbers.shift();
        const found = [];
        let error = null;
        try {
          await read(number, found);
        } catch (e) {
          error = `${e?.name}: ${String(e?.message).slice(0, 200)}`;
        }
        process.stdout.write(JSON.stringify({ number, reader, [finds]: found, error }) + "\n");
      }
    };
    await Promise.all(Array.from({ length: JOBS }, worker));
  }
};
