// Written by `holdgate setup`; `holdgate uninstall` removes it.
// Every call is judged by Holdgate before it runs. Without an answer it does not run.
import { spawn } from "node:child_process"

const COMMAND = COMMAND_WORDS

const ask = (event) =>
  new Promise((resolve) => {
    let out = ""
    let err = ""
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "pipe"] })
    child.stdout.on("data", (data) => (out += data))
    child.stderr.on("data", (data) => (err += data))
    child.on("error", (error) => resolve({ code: 2, out: "", err: String(error) }))
    child.on("close", (code) => resolve({ code, out, err }))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })

const decision = (said) => {
  try {
    return JSON.parse(said.out)
  } catch {
    return {}
  }
}

export const Holdgate = async ({ directory }) => {
  const event = (name, input, more) => ({
    hook_event_name: name,
    session_id: input.sessionID,
    tool_use_id: input.callID,
    tool_name: input.tool,
    cwd: directory,
    project: directory,
    ...more,
  })
  return {
    "tool.execute.before": async (input, output) => {
      const said = await ask(event("tool.execute.before", input, { tool_input: output.args ?? {} }))
      const decided = decision(said)
      if (said.code !== 0 || decided.decision !== "allow") {
        throw new Error(decided.reason || said.err || "[holdgate] There was no answer.")
      }
    },
    "tool.execute.after": async (input, output) => {
      await ask(
        event("tool.execute.after", input, {
          tool_input: input.args ?? {},
          tool_response: output?.output ?? "",
          exit_code: output?.metadata?.exit,
        }),
      )
    },
  }
}
