/**
 * Finds a free TCP port for a server that must know its port before it listens.
 *
 * A port that the operating system chooses (port 0) comes from the range of ephemeral ports. Between the
 * search and the start of the server, an outgoing connection of any process can get the same port, and the
 * server then fails with EADDRINUSE. So the ports here lie below the ephemeral ranges of Linux (32768 to
 * 60999, see `ip_local_port_range` in ip(7)) and of other systems (49152 to 65535, RFC 6335).
 */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

export const freePortsFirst = 20_000;
export const freePortsEnd = 32_768;

let range = { first: freePortsFirst, end: freePortsEnd };
/** The next port to try. Each process starts at a random port and returns no port twice in a row. */
let nextPort = randomInt(range.first, range.end);

/**
 * Limits the ports of this process to those from `first` to the one before `end`. Processes with different
 * ranges never choose the same port, also if their servers listen only some time after the search.
 */
export function limitFreePorts(first: number, end: number): void {
  range = { first, end };
  if (nextPort < first || nextPort >= end) nextPort = randomInt(first, end);
}

/**
 * Finds a port from 20000 to 32767, or of the range of `limitFreePorts`, on which a server can listen.
 *
 * @param host The address on which the server will listen, for example `127.0.0.1`.
 * @throws The error of the operating system, if the address does not belong to this machine or if all ports
 *   are in use.
 */
export async function findFreePort(host = "127.0.0.1"): Promise<number> {
  for (let attempts = range.end - range.first; ; attempts -= 1) {
    const port = nextPort;
    nextPort = port + 1 < range.end ? port + 1 : range.first;
    try {
      await listenOnce(port, host);
      return port;
    } catch (error) {
      const isUsed = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
      if (!isUsed || attempts === 1) throw error;
    }
  }
}

function listenOnce(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(port, host, () => void probe.close(() => resolve()));
  });
}
