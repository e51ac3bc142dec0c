/** Helpers for tests of events: change something over GraphQL, and read the events published since. */
import { randomUUID } from "node:crypto";
import type { World } from "#test/support/world.ts";

export interface PublishedEvent {
  readonly type: string;
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
  // eslint-disable-next-line typescript/no-explicit-any -- Tests look into documents of any shape.
  readonly data: { readonly object: any; readonly previous: any; readonly truncated: boolean };
  readonly cause: Readonly<Record<string, unknown>>;
  readonly installationId: string | null;
  /** The texts of the full and the thin body, as they are sent. */
  readonly bodies: string;
}

/**
 * Returns a function that reads the events published since its last call. The first call skips the demo's
 * past events.
 */
export function createEventReader(world: World): () => Promise<PublishedEvent[]> {
  const since = world.clock.now();
  let last = "";
  return async () => {
    const rows = await world.database.db
      .selectFrom("event")
      .select(["id", "installationId", "snapshot", "thin"])
      .where("id", ">", last)
      .where("occurredAt", ">=", since)
      .orderBy("id")
      .execute();
    last = rows.at(-1)?.id ?? last;
    return rows.map(({ installationId, snapshot, thin }) =>
      Object.assign(JSON.parse(snapshot) as PublishedEvent, { installationId, bodies: snapshot + thin }),
    );
  };
}

export interface Answered {
  // eslint-disable-next-line typescript/no-explicit-any -- Tests look into answers of any shape.
  readonly data: any;
  // eslint-disable-next-line typescript/no-explicit-any -- As above.
  readonly error: any;
}

export type Change = (
  field: string,
  inputType: string,
  input: Readonly<Record<string, unknown>>,
  selection: string,
) => Promise<Answered>;

export function createChange(world: World, token = "admin"): Change {
  return async (field, inputType, input, selection) => {
    // Ids created in the same millisecond are ordered only within one transaction.
    world.clock.advance(1);
    const query = `mutation ($input: ${inputType}!, $key: String!) { ${field}(input: $input, idempotencyKey:
      $key) { ${selection} } }`;
    const { body } = await world.graphql(query, { variables: { input, key: randomUUID() }, token });
    return { data: body.data?.[field], error: body.errors?.[0]?.extensions };
  };
}

/** The types of the events with the version of their subject. */
export const brief = (events: readonly PublishedEvent[]): [string, number][] =>
  events.map(({ type, subject }) => [type, subject.version]);
