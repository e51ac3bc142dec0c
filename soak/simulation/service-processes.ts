/**
 * The processes of the simulated service: each is a complete service (`createServiceApp`) without a socket.
 * Requests of clients reach its HTTP handler directly. A killed process never continues; its clients get no
 * answer.
 */
import { createServiceApp, type ServiceApp } from "#app/app.ts";
import type { ProcessRole } from "#app/background.ts";
import { createLog, type Log } from "#foundation/log.ts";
import type { HttpAnswer, HttpRequest, SendRequest } from "#soak/shop.ts";
import type { BaseDatabase } from "./base-database.ts";
import type { SimulationSources } from "./replaced-globals.ts";
import { createSeededRandom } from "./seeded-random.ts";
import type { SimulatedOutside } from "./simulated-outside.ts";
import type { SimulatedDatabaseServer } from "./simulated-database.ts";
import type { SimulatedProcess, VirtualWorld } from "./virtual-world.ts";

interface RunningService {
  readonly role: ProcessRole;
  readonly process: SimulatedProcess;
  readonly app: ServiceApp;
  readonly unanswered: Set<(error: Error) => void>;
}

export interface SimulatedServiceParts {
  readonly world: VirtualWorld;
  readonly base: BaseDatabase;
  readonly server: SimulatedDatabaseServer;
  readonly outside: SimulatedOutside;
  readonly sources: SimulationSources;
}

export interface SimulatedNetworkFaults {
  /** The probability that a request or its answer is lost. */
  lost: number;
}

const networkMsMax = 3;
const bootEventsMax = 10_000;

export class SimulatedServiceProcesses {
  readonly faults: SimulatedNetworkFaults = { lost: 0 };
  readonly counts = { kills: 0, lost: 0 };
  /** The unexpected errors that the processes have logged. */
  readonly errors: string[] = [];
  readonly #parts: SimulatedServiceParts;
  readonly #running = new Map<string, RunningService>();
  #started = 0;

  constructor(parts: SimulatedServiceParts) {
    this.#parts = parts;
  }

  /** Starts a process. No other event runs meanwhile. */
  async start(slot: string, role: ProcessRole): Promise<void> {
    const { world, base, server, outside, sources } = this.#parts;
    this.#started += 1;
    const process: SimulatedProcess = { name: `${slot}.${this.#started}`, isDead: false };
    world.startRandom = createSeededRandom(this.#started, 4);
    sources.random = createSeededRandom(this.#started, 5);
    const booting = world.runIn(process, async () => {
      const app = await createServiceApp({
        settings: base.settings,
        log: this.#createLog(),
        mesh: base.mesh,
        database: server.open(),
        role,
        resolveName: () => Promise.resolve([]),
        external: outside.connect(),
      });
      await app.server.ready();
      return app;
    });
    const app = await world
      .runUntil(booting, bootEventsMax, (one) => one === process)
      .finally(() => {
        world.startRandom = undefined;
        sources.random = world.serviceRandom;
      });
    world.runIn(process, () => app.start());
    world.note(`${process.name} has started`);
    this.#running.set(slot, { role, process, app, unanswered: new Set() });
  }

  /** Kills a process at the point where it waits. Returns its role; undefined if it does not run. */
  async kill(slot: string): Promise<ProcessRole | undefined> {
    const { world, server } = this.#parts;
    const killed = this.#running.get(slot);
    if (killed === undefined) return undefined;
    this.#running.delete(slot);
    this.counts.kills += 1;
    world.note(`${killed.process.name} is killed`);
    killed.process.isDead = true;
    // Modules hold the caches of the process, and with them the whole process.
    killed.app.credentials.close();
    killed.app.trustedDocuments.close();
    await server.endConnectionsOf(killed.process);
    for (const reject of killed.unanswered)
      world.plan(world.random.next() * networkMsMax, "connection lost", () => reject(createLostError()));
    return killed.role;
  }

  /** Sends a request to a process that serves requests, which the seed selects. Throws without an answer. */
  readonly ask: SendRequest = async (request) => {
    const { world } = this.#parts;
    await world.wait(networkMsMax, `request ${request.method} ${request.url}`);
    const serving = [...this.#running.values()].filter(({ role }) => role !== "worker");
    const service = serving[world.random.below(serving.length)];
    if (service === undefined || world.random.chance(this.faults.lost)) return this.#lose("request lost");
    const answer = await this.#answer(service, request);
    if (world.random.chance(this.faults.lost)) return this.#lose("answer lost");
    world.note(`answer ${answer.status} ${answer.text}`);
    return answer;
  };

  #lose(what: string): never {
    this.counts.lost += 1;
    this.#parts.world.note(what);
    throw createLostError();
  }

  async #answer(service: RunningService, request: HttpRequest): Promise<HttpAnswer> {
    const { world } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    service.unanswered.add(reject);
    world.runIn(service.process, () => {
      const { method, url, headers, body } = request;
      const payload = body === undefined ? {} : { payload: body };
      service.app.server
        .inject({ method, url, headers, ...payload })
        .then(({ statusCode, headers: answered, body: text }) =>
          world.plan(world.random.next() * networkMsMax, "answer arrives", () =>
            resolve({ status: statusCode, headers: answered as HttpAnswer["headers"], text }),
          ),
        )
        .catch(reject);
    });
    return promise.finally(() => service.unanswered.delete(reject));
  }

  #createLog(): Log {
    return createLog("error", {
      write: (line) => {
        this.#parts.world.note("an error is logged");
        this.errors.push(line.slice(0, 1000));
      },
    });
  }
}

const createLostError = (): Error => new Error("The connection was lost.");
