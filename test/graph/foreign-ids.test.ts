/**
 * Every place of the graph that takes an id: an id of another merchant is answered like an unknown id and
 * changes nothing. The places are read from the schema, so new places are tested automatically.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { askGraph } from "#test/operations/cart-calls.ts";
import { digestTables } from "#test/support/all-rows.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  createSubjects,
  ownAt,
  type Side,
  sides,
  type Subject,
  subjectAt,
  type Subjects,
} from "./id-owners.ts";
import { callWith, type IdPlace, idPlaces, isQuery } from "./id-places.ts";
import { allowedRoles } from "./role-table.ts";

const world = useWorld();
const subjects: Partial<Record<Side, Subjects>> = {};
const tokens: Partial<Record<Side, string>> = {};
const other: Readonly<Record<Side, Side>> = { first: "second", second: "first" };
let rowsBefore: Readonly<Record<string, string>> = {};

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
  for (const side of sides) subjects[side] = await createSubjects(world(), side);
  rowsBefore = await digestTables(world());
});

/** Ids that do not name a merchant's row, each with the reason. */
const elsewhere: Readonly<Record<string, string>> = {
  "installationCreate.input.appId": "Apps are the platform's.",
  "paymentProviderConnect.merchantId":
    "The key is checked at Stripe before the merchant: live-purchase.test.ts.",
  "auditEntries.actorId": "Compared with entries of one's own.",
  "auditEntries.targetId": "Compared with entries of one's own.",
  "apiRequests.credentialId": "Compared with requests of one's own.",
  "events.subjectId": "Compared with events of one's own.",
  "webhookDeliveriesReplay.input.toEndpointId":
    "Each delivery is passed over by itself: webhook-replay.test.ts.",
};
const nameOf = ({ field, path }: IdPlace): string => `${field}.${path}`;
/** Fields of the platform are left out: they refuse every role of a merchant (roles.test.ts). */
const places = idPlaces.filter(
  (place) => !(nameOf(place) in elsewhere) && allowedRoles[place.field]?.includes("admin") === true,
);

/**
 * Ids in the input beside the main id are answered as faults of the input (400), or after the state of the
 * main object (409).
 */
const ofTheBody =
  /\.lines\.(?:variant|line)Id$|\.(?:lineIds|lineId|optionId|addressToken|exchangeVariantId)$/;
const afterState: readonly string[] = [
  "returnReceive.input.lines.lineId",
  "returnInspect.input.lines.lineId",
  "paymentProviderDisconnect.input.connectionId",
];

function expectedCodes(place: IdPlace): unknown {
  if (isQuery(place) && ["id", "endpointId", "installationId"].includes(place.path)) return [];
  if (afterState.includes(nameOf(place))) return ["invalid_state"];
  return ofTheBody.test(place.path)
    ? [expect.stringMatching(/^invalid_field$|_not_found$/)]
    : [expect.stringMatching(/_not_found$/)];
}

it("the id places are read from the schema", () => {
  expect(places.length).toBeGreaterThan(200);
  expect(idPlaces.map(nameOf)).toEqual(expect.arrayContaining([...Object.keys(elsewhere), ...afterState]));
});

interface Tried {
  readonly codes: readonly string[];
  readonly text: string;
}

/** Calls the field as the caller. All ids are the caller's own except the id of this place. */
async function tryWith(
  place: IdPlace,
  { caller, id }: { readonly caller: Side; readonly id: string },
): Promise<Tried> {
  const own = subjects[caller] ?? {};
  const query = callWith(place, (at) =>
    at.path === place.path ? id : (ownAt(world(), { place: at, caller, own }) ?? missing(subjectAt(at))),
  );
  const { body, text } = await world().graphql(query, { token: tokens[caller] ?? "" });
  const codes = (body.errors ?? []).map(
    ({ extensions, message }: { extensions?: { code?: string }; message: string }) =>
      extensions?.code ?? message,
  );
  return { codes, text: text.replaceAll(/req_\w{26}/g, "req").replaceAll(id, "id") };
}

/** An unknown id of the same kind. */
function missing(subject: Subject): string {
  const some = subjects.first?.[subject] ?? subjects.second?.[subject] ?? "";
  const prefix = some.slice(0, some.indexOf("_") + 1);
  return prefix + "0".repeat(some.length - prefix.length);
}

describe("a foreign id is answered like an unknown id by", () => {
  const fields = [...Map.groupBy(places, ({ field }) => field)];
  it.each(fields)("%s", async (_field, ofField) => {
    for (const place of ofField) {
      const subject = subjectAt(place);
      const callers = sides.filter((caller) => subjects[other[caller]]?.[subject] !== undefined);
      const tried = await Promise.all(
        callers.map(async (caller) => {
          const foreign = await tryWith(place, { caller, id: subjects[other[caller]]?.[subject] ?? "" });
          expect({ place, caller, ...foreign }).toEqual({
            place,
            caller,
            ...(await tryWith(place, { caller, id: missing(subject) })),
          });
          return foreign.codes;
        }),
      );
      // A merchant with fewer objects may also be refused for the state of an object.
      expect({ place, tried }).toEqual({ place, tried: expect.arrayContaining([expectedCodes(place)]) });
    }
    expect(await digestTables(world())).toEqual(rowsBefore);
  });
});
