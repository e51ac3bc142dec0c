/** Bytes over a socket, and every answer that comes back: a request within a request would show as one more. */
import { connect } from "node:net";

/** The whole of what came back, once the server has closed the connection. */
export function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, "latin1"));
    socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
    socket.once("close", () => resolve(text));
    // A server that refuses before it has read everything may reset the connection after its answer.
    socket.once("error", (error) => (text === "" ? reject(error) : undefined));
  });
}

/** In their order. */
export const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

export const lines = (...parts: readonly string[]): string => parts.join("\r\n");
