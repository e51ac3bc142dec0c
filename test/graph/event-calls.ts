/** What the tests of events ask again and again: a change through the graph, and what was told since. */
import { randomUUID } from "node:crypto";
import type { World } from "#test/support/world.ts";

export interface Told {
  readonly type: string;
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
  // eslint-disable-next-line typescript/no-explicit-any -- Tests look into documents of any shape.
  readonly data: { readonly object: any; readonly previous: any; readonly truncated: boolean };
  readonly cause: Readonly<Record<string, unknown>>;
  readonly installationId: string | null;
  /** Both bodies, as they are sent. */
  readonly bodies: string;
}

/** Reads what was written since the last call, at first since now: the demo has a past. */
export function createListener(world: World): () => Promise<Told[]> {
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
      Object.assign(JSON.parse(snapshot) as Told, { installationId, bodies: snapshot + thin }),
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
    // Ids of one millisecond are in order only within a transaction.
    world.clock.advance(1);
    const query = `mutation ($input: ${inputType}!, $key: String!) { ${field}(input: $input, idempotencyKey: $key) { ${selection} } }`;
    const { body } = await world.graphql(query, { variables: { input, key: randomUUID() }, token });
    return { data: body.data?.[field], error: body.errors?.[0]?.extensions };
  };
}

/** In short: what was told, of which version. */
export const brief = (told: readonly Told[]): [string, number][] =>
  told.map(({ type, subject }) => [type, subject.version]);
