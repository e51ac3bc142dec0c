/**
 * The guarantees to those who operate the service: wrong keys, slow or missing servers, stops and hangs,
 * replicas, poolers, deployments, growth and quotas. figure-list.ts has the other guarantees.
 */
import { type MeasuredGuarantee, measureBySuite } from "./guarantee.ts";
import { suites } from "./suites.ts";

/** The guarantees of which all cases are tests of `npm test`, so the short tests are the measurement. */
const promisesBySuite = {
  "encryption-keys":
    "A process does not start if the database has values of an encryption key that the process lacks, or if " +
    "a key has the right id and wrong bytes. Keys can be replaced while the service runs.",
  "statement-limits":
    "If PostgreSQL does not answer, or its synchronous standby is lost, requests fail with 503 within the " +
    "documented limits, statements are canceled on the server, and no backend waits on. A migration gives up " +
    "a lock that it does not get and runs again, and processes that serve requests need no right to change tables.",
  "drain-and-watchdog":
    "After SIGTERM, a process answers /readyz with 503 and serves on, and no request fails. The watchdog ends " +
    "a process whose event loop is blocked, and says in which functions it is.",
  "folder-lock":
    "The embedded database starts although a killed process has left its lock, also if the killed process is " +
    "still in the process table, and never while another living process uses the folder.",
  replica:
    "The lag of the read replica is measured. A replica that is too far behind or does not answer is not read, " +
    "and the primary answers instead.",
  poolers:
    "Behind PgBouncer in transaction mode, with and without named statements, all statements succeed, and one " +
    "warning is logged for each missing feature.",
  deployment:
    "The service is deployed without a secret in an environment variable by the files of deploy and " +
    "compose.yaml, reaches PostgreSQL and Redis over TLS with checked certificates, and one request id leads " +
    "from nginx to the SQL statement and the webhook.",
  growth:
    "The plan to distribute the tables by merchant lists every table, and every unique index and foreign key " +
    "that lacks the merchant. Rows are deleted after their retention.",
  quotas:
    "GraphQL, CSV reports and exports have quotas for each token and each merchant, and a document above its " +
    "quota is refused before it runs. Duplicate JSON members, forged hosts and smuggled requests are refused.",
} as const satisfies Readonly<Partial<Record<keyof typeof suites, string>>>;

type OperationSuite = keyof typeof promisesBySuite;

/** The names of the suites, in the order of the guarantees. */
export const operationSuites: readonly OperationSuite[] = [
  "encryption-keys",
  "statement-limits",
  "drain-and-watchdog",
  "folder-lock",
  "replica",
  "poolers",
  "deployment",
  "growth",
  "quotas",
];

const firstNumber = 24;

export const operationGuarantees: readonly MeasuredGuarantee[] = operationSuites.map((name, index) => ({
  number: firstNumber + index,
  promise: promisesBySuite[name],
  measurements: [measureBySuite(name)],
  shortTests: suites[name],
}));
