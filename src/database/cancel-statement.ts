/**
 * Cancels the statement that a connection runs, with a cancel request of PostgreSQL's protocol: a second
 * connection sends the process id and the secret of the first one. Without a cancel request, PostgreSQL would
 * notice the closed connection only after the statement has ended, and would work on an answer that this
 * process no longer needs. A COMMIT that waits for a synchronous standby would never end, because the time
 * limit of the server (`statement_timeout`) does not apply to this wait. A cancel request ends the wait.
 */
import type { Socket } from "node:net";
import pg from "pg";

/** The parts of a pg client that a cancel request needs. The types of pg lack some of them. */
interface CancelableClient {
  readonly host: string;
  readonly port: number;
  readonly ssl: pg.ConnectionConfig["ssl"];
  readonly sslNegotiation: string;
  readonly processID: number | null;
  readonly secretKey: number | null;
}

interface CancelConnection {
  readonly stream: Socket;
  on(event: string, listener: () => void): void;
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

/** Milliseconds after which a cancel request that has not arrived is given up. */
const cancelMsMax = 2_000;

/**
 * Asks the server to cancel the statement that the client's connection runs. Errors are ignored: the client's
 * connection is closed in any case.
 */
export function cancelRunningStatement(client: pg.ClientBase): void {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = client as unknown as CancelableClient;
  if (processID === null || secretKey === null) return;
  const connection = new pg.Connection({
    ssl,
    sslNegotiation,
  } as pg.ConnectionConfig) as unknown as CancelConnection;
  const timer = setTimeout(() => connection.stream.destroy(), cancelMsMax);
  const send = (): void => connection.cancel(processID, secretKey);
  connection.on("connect", () => {
    if (ssl === undefined || ssl === false) send();
    else if (sslNegotiation !== "direct") connection.requestSsl();
  });
  connection.on("sslconnect", send);
  connection.on("error", () => connection.stream.destroy());
  connection.on("end", () => clearTimeout(timer));
  if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
}
