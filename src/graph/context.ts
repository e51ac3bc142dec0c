/** What every resolver is given: who asks, the database, the time, and loaders that live as long as the request. */
import { anonymous, type Viewer } from "#access/viewer.ts";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import { createLoaders, type Loaders } from "./loaders.ts";

export interface GraphContext {
  readonly viewer: Viewer;
  readonly requestId: string;
  /** The languages asked for, best first. */
  readonly languages: readonly string[];
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
  /** What quotas are multiplied by; 0 when limits are off. */
  readonly rateLimitScale: number;
  readonly loaders: Loaders;
}

/** What a process has once, whoever asks. */
export interface GraphServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly rateLimitScale: number;
}

export interface Asker {
  readonly viewer?: Viewer;
  readonly requestId: string;
  readonly languages?: readonly string[];
}

export function createContext(services: GraphServices, asker: Asker): GraphContext {
  return {
    viewer: asker.viewer ?? anonymous,
    requestId: asker.requestId,
    languages: asker.languages ?? [],
    db: services.db,
    clock: services.clock,
    publicUrl: services.publicUrl,
    rateLimitScale: services.rateLimitScale,
    loaders: createLoaders(services.db),
  };
}
