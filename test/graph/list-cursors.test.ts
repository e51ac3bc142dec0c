/**
 * The pages of all lists of the graph: every list accepts its own cursors, refuses all other texts with the
 * same message, refuses `first` together with `last`, and has no cursors on an empty page.
 */
import { getNamedType, type GraphQLField, type GraphQLObjectType } from "graphql";
import { expect, it } from "vitest";
import graph from "#graph/schema.ts";
import { useWorld } from "#test/support/use-world.ts";

const world = useWorld();

const listsOf = (type: GraphQLObjectType | null | undefined): string[] =>
  Object.values(type?.getFields() ?? {})
    .filter(({ type: result }: GraphQLField<unknown, unknown>) =>
      getNamedType(result).name.endsWith("Connection"),
    )
    .map(({ name }) => name);

/** The lists that are fields of the query type, and lists that are fields of one object. */
const rootLists = listsOf(graph.getQueryType());

const read = async (field: string, args: string, token = "admin") => {
  const selection = "edges { cursor } pageInfo { startCursor endCursor hasNextPage }";
  const { body } = await world().graphql(`{ list: ${field}(${args}) { ${selection} } }`, { token });
  return body.errors?.[0]?.extensions ?? body.data.list;
};

/** Only a token of the platform may list these. */
const platformLists = new Set(["apps", "oauthClients"]);
const tokenFor = (field: string): string => (platformLists.has(field) ? "operator" : "admin");

const foreignCursors = [
  "garbage",
  "zzz",
  "",
  "1:ord_x",
  "pop_01jgfj2v00fxtr0000000000v1",
  "ord_01jgfj2v00fxtr0000000000v1 or 1=1",
];

it("has more than twenty-five lists", () => {
  expect(rootLists.length).toBeGreaterThan(25);
});

it.each(rootLists)("%s refuses texts that are not cursors of the list", async (field) => {
  for (const name of ["after", "before"])
    for (const cursor of foreignCursors)
      expect([cursor, await read(field, `${name}: "${cursor}"`, tokenFor(field))]).toMatchObject([
        cursor,
        {
          code: "invalid_field",
          message: `"${name}" must be a cursor of this list in the same order.`,
          details: [{ field: `/${name}`, code: "invalid_format" }],
        },
      ]);
});

it.each(rootLists)("%s continues after its own cursor", async (field) => {
  const page = await read(field, "first: 1", tokenFor(field));
  expect(page.code).toBeUndefined();
  const [edge] = page.edges;
  if (edge === undefined) return;
  expect(page.pageInfo).toMatchObject({ startCursor: edge.cursor, endCursor: edge.cursor });
  const next = await read(field, `first: 1, after: "${edge.cursor}"`, tokenFor(field));
  expect([next.code, next.edges[0]?.cursor === edge.cursor]).toEqual([undefined, false]);
});

it("refuses a made-up cursor of orders by total, and a cursor of another order of the list", async () => {
  const byTotal = 'sort: LOWEST_TOTAL_FIRST, currency: "EUR"';
  const page = await read("orders", `first: 1, ${byTotal}`);
  const cursor: string = page.edges[0].cursor;
  expect((await read("orders", `${byTotal}, after: "${cursor}"`)).code).toBeUndefined();
  for (const args of [
    `${byTotal}, after: "1:ord_x"`,
    `${byTotal}, after: "1:${"x".repeat(30)}"`,
    `${byTotal}, after: "${cursor.split(":")[1]}"`,
    `after: "${cursor}"`,
  ])
    expect(await read("orders", args)).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/after" }],
    });
});

it("refuses foreign cursors of lists that are fields of an object", async () => {
  const { body } = await world().graphql(
    `{ promotions { edges { node { codes(after: "zzz") { totalCount } } } }
      installations { edges { node { recentRequests(after: "zzz") { totalCount } } } } }`,
  );
  const messages = body.errors.map(({ message }: { message: string }) => message);
  expect(new Set(messages)).toEqual(new Set(['"after" must be a cursor of this list in the same order.']));
});

it.each(rootLists)("%s refuses first together with last", async (field) => {
  expect(await read(field, "first: 1, last: 1", tokenFor(field))).toMatchObject({
    code: "invalid_field",
    message: '"last" is not allowed together with "first".',
    details: [{ field: "/last", code: "not_allowed" }],
  });
});

it("has no cursors on an empty page", async () => {
  const empty = { edges: [], pageInfo: { startCursor: null, endCursor: null, hasNextPage: false } };
  expect(await read("orders", 'placedFrom: "2100-01-01T00:00:00Z"')).toEqual(empty);
  const last = await read("orders", "last: 1");
  expect(await read("orders", `after: "${last.pageInfo.endCursor}"`)).toEqual(empty);
  expect((await read("payments", "first: 0")).pageInfo).toMatchObject({ startCursor: null, endCursor: null });
});
