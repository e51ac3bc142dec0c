/**
 * Prism in front of the service: a third-party proxy that reads `schema/openapi.json` and answers with an
 * error if a request or an answer violates it.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";

const binary = new URL("../../node_modules/.bin/prism", import.meta.url).pathname;
const document = new URL("../../schema/openapi.json", import.meta.url).pathname;

export interface ContractProxy extends AsyncDisposable {
  readonly origin: string;
}

export async function startContractProxy(servicePort: number): Promise<ContractProxy> {
  const port = await findFreePort();
  const { PATH, HOME } = process.env;
  const args = [
    "proxy",
    document,
    `http://127.0.0.1:${servicePort}`,
    "--errors",
    "--port",
    String(port),
    "--host",
    "127.0.0.1",
  ];
  const child = spawn(process.execPath, [binary, ...args], {
    env: { PATH, HOME },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  const isListening = (): boolean => said.includes("Prism is listening");
  while (!isListening() && child.exitCode === null) await Promise.race([once(child.stdout, "data"), ended]);
  if (!isListening()) throw new Error(`Prism ended before it listened: ${said}`);
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      process.removeListener("exit", kill);
      kill();
      await ended;
    },
  };
}
