/**
 * The guarantees about answers of several processes and database servers: no answer is outdated, and the
 * changes have one order. figure-list.ts has the other guarantees.
 */
import { bothEngines, type MeasuredGuarantee, measureBySoak } from "./guarantee.ts";

export const consistencyGuarantees: readonly MeasuredGuarantee[] = [
  {
    number: 21,
    promise:
      "If the primary of a PostgreSQL cluster under Patroni with synchronous replication is killed 20 times " +
      "under load, no acknowledged change is lost, no change is made twice, and the service makes changes " +
      "again within 30 seconds after each kill. No process of the service needs a restart.",
    measurements: [
      {
        ...measureBySoak("failover", 10),
        engines: ["postgres"],
        atLeast: { "killed primaries": 20 },
        atMost: { "slowest recovery s": 30 },
      },
    ],
    shortTests: [
      "test/database/read-only-server.test.ts",
      "test/deploy/database-cluster.test.ts",
      "test/faults/database-away.test.ts",
    ],
  },
  {
    number: 22,
    promise:
      "If product pages are read a million times from two processes while one of a hundred requests changes a " +
      "price, every answer shows all changes that were committed before its request, although most answers come " +
      "from memory, and although the connections on which the processes learn of changes are cut.",
    measurements: [
      {
        ...measureBySoak("unchanged", 1),
        engines: ["postgres"],
        atLeast: { reads: 1_000_000 },
        atMost: { "stale answers": 0 },
      },
    ],
    shortTests: ["test/exactly-once/unchanged.test.ts", "test/gateway/response-cache.test.ts"],
  },
  {
    number: 23,
    promise:
      "If concurrent clients read and change carts, orders, stock and promotion codes with a single use over " +
      "two processes, and some of them get no answer, the million operations have a serial order that keeps " +
      "the order of real time (strict serializability). A checker in the manner of Elle judges the history.",
    measurements: [
      { ...measureBySoak("serializability", 60), engines: bothEngines, atLeast: { operations: 1_000_000 } },
    ],
    shortTests: ["test/exactly-once/serializability.test.ts", "test/exactly-once/judge.test.ts"],
  },
];

/** The guarantee of the simulation of the whole service in one process. */
export const simulationGuarantee: MeasuredGuarantee = {
  number: 35,
  promise:
    "If the whole service runs in one process whose time, chance, database connections, network and process " +
    "deaths come from a seed, no acknowledged change is lost or made twice, money, stock and promotion codes " +
    "add up, and every event arrives with the same bytes, for each of 1 000 seeds. The simulation finds each of 36 faults that are " +
    "planted in the code, for example a transaction that commits before its last change.",
  measurements: [
    {
      name: "simulation",
      command: "npm run soak -- --only simulation --rounds 1000 --minutes 60",
      engines: ["pglite"],
      atLeast: { seeds: 1_000 },
    },
    {
      name: "planted-faults",
      command: "npm run soak -- --only planted-faults --minutes 60",
      engines: ["pglite"],
      atLeast: { found: 36 },
    },
  ],
  shortTests: ["test/simulation/simulation.test.ts"],
};
