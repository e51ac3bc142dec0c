/** Sends raw HTTP bytes over a socket, for requests that no client library would send. */
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import type { Answer, World } from "./world.ts";

/** Returns the port at which the test world's server listens. */
export function portOf({ app }: World): number {
  return (app.server.server.address() as AddressInfo).port;
}

/** Sends the bytes and returns the first answer after the server has closed the connection. */
export function sendRaw(port: number, bytes: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.once("close", () => resolve(parseAnswer(text)));
    // A server that answers before it has read the whole request may reset the connection after its answer.
    socket.once("error", (error) => (text === "" ? reject(error) : undefined));
  });
}

/** Builds a request from lines and adds a header that asks the server to close the connection. */
export const request = (...lines: readonly string[]): string =>
  [...lines, "Connection: close", "", ""].join("\r\n");

function parseAnswer(text: string): Answer {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  const body = rest.join("\r\n\r\n");
  return {
    status: Number(statusLine.split(" ")[1]),
    headers,
    text: body,
    body: body === "" ? undefined : JSON.parse(body),
  };
}
