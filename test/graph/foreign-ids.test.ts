/**
 * Every id that the graph takes, at every place where it takes one: another merchant's is answered exactly as
 * one that is not there, and leaves nothing. The places come from the schema, so that a new one is tried
 * without being named here.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { askGraph } from "#test/operations/cart-calls.ts";
import { digestTables } from "#test/support/all-rows.ts";
import { useWorld } from "#test/support/use-world.ts";
import { makeThings, ownAt, type Side, sides, type Thing, thingAt, type Things } from "./id-owners.ts";
import { callWith, type IdPlace, idPlaces, isQuery } from "./id-places.ts";
import { allowedRoles } from "./role-table.ts";

const world = useWorld("pglite");
const things: Partial<Record<Side, Things>> = {};
const tokens: Partial<Record<Side, string>> = {};
const other: Readonly<Record<Side, Side>> = { first: "second", second: "first" };
let standing: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  for (const side of sides) {
    const { data } = await askGraph(
      world(),
      "mutation ($input: InternalTokenCreateInput!) { internalTokenCreate(input: $input) { value } }",
      { input: { name: `Admin of ${side}`, role: "ADMIN", merchantId: world().demo.merchants[side].id } },
      { token: "operator" },
    );
    tokens[side] = data.value;
  }
  for (const side of sides) things[side] = await makeThings(world(), side);
  standing = await digestTables(world());
});

/** What is not looked up as somebody's row. */
const elsewhere: Readonly<Record<string, string>> = {
  "installationCreate.input.appId": "Apps are the platform's.",
  "auditEntries.actorId": "Compared with entries of one's own.",
  "auditEntries.targetId": "Compared with entries of one's own.",
  "webhookDeliveriesReplay.input.toEndpointId":
    "Each delivery is passed over by itself: webhook-replay.test.ts.",
};
const nameOf = ({ field, path }: IdPlace): string => `${field}.${path}`;
/** Those of the platform alone are refused to everybody of a merchant, whatever they name: roles.test.ts. */
const places = idPlaces.filter(
  (place) => !(nameOf(place) in elsewhere) && allowedRoles[place.field]?.includes("admin") === true,
);

/**
 * What the body names beside what the call is about is told as a fault of the body (400), or comes after the
 * state of that (409).
 */
const ofTheBody =
  /\.lines\.(?:variant|line)Id$|\.(?:lineIds|lineId|optionId|addressToken|exchangeVariantId)$/;
const afterState: readonly string[] = [
  "returnReceive.input.lines.lineId",
  "returnInspect.input.lines.lineId",
];

function expectedCodes(place: IdPlace): unknown {
  if (isQuery(place) && ["id", "endpointId", "installationId"].includes(place.path)) return [];
  if (afterState.includes(nameOf(place))) return ["invalid_state"];
  return ofTheBody.test(place.path)
    ? [expect.stringMatching(/^invalid_field$|_not_found$/)]
    : [expect.stringMatching(/_not_found$/)];
}

it("are found in the schema", () => {
  expect(places.length).toBeGreaterThan(200);
  expect(idPlaces.map(nameOf)).toEqual(expect.arrayContaining([...Object.keys(elsewhere), ...afterState]));
});

interface Tried {
  readonly codes: readonly string[];
  readonly text: string;
}

/** As the caller of a side, whose ids stand everywhere but at the place. */
async function tryWith(
  place: IdPlace,
  { caller, id }: { readonly caller: Side; readonly id: string },
): Promise<Tried> {
  const own = things[caller] ?? {};
  const query = callWith(place, (at) =>
    at.path === place.path ? id : (ownAt(world(), { place: at, caller, own }) ?? missing(thingAt(at))),
  );
  const { body, text } = await world().graphql(query, { token: tokens[caller] ?? "" });
  const codes = (body.errors ?? []).map(
    ({ extensions, message }: { extensions?: { code?: string }; message: string }) =>
      extensions?.code ?? message,
  );
  return { codes, text: text.replaceAll(/req_\w{26}/g, "req").replaceAll(id, "id") };
}

/** A thing of that kind which is not there. */
function missing(thing: Thing): string {
  const some = things.first?.[thing] ?? things.second?.[thing] ?? "";
  const prefix = some.slice(0, some.indexOf("_") + 1);
  return prefix + "0".repeat(some.length - prefix.length);
}

describe("a foreign id is one that is not there", () => {
  const fields = [...Map.groupBy(places, ({ field }) => field)];
  it.each(fields)("%s", async (_field, ofField) => {
    for (const place of ofField) {
      const thing = thingAt(place);
      const callers = sides.filter((caller) => things[other[caller]]?.[thing] !== undefined);
      const tried = await Promise.all(
        callers.map(async (caller) => {
          const foreign = await tryWith(place, { caller, id: things[other[caller]]?.[thing] ?? "" });
          expect({ place, caller, ...foreign }).toEqual({
            place,
            caller,
            ...(await tryWith(place, { caller, id: missing(thing) })),
          });
          return foreign.codes;
        }),
      );
      // A merchant that has less may be refused for the state of what it has.
      expect({ place, tried }).toEqual({ place, tried: expect.arrayContaining([expectedCodes(place)]) });
    }
    expect(await digestTables(world())).toEqual(standing);
  });
});
