/** Sends bytes over a socket and reads all answers: a smuggled request would cause an additional answer. */
import { connect } from "node:net";

/** Returns everything that the server sent until it closed the connection. */
export function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, "latin1"));
    socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
    socket.once("close", () => resolve(text));
    // A server that answers before it has read the whole request may reset the connection after its answer.
    socket.once("error", (error) => (text === "" ? reject(error) : undefined));
  });
}

/** Returns the statuses of the answers, in order. */
export const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

export const lines = (...parts: readonly string[]): string => parts.join("\r\n");
