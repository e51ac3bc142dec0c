/**
 * The readiness of installations for staff and analysts: of their own installations only, loaded for a whole
 * page at once.
 */
import { expect, it, onTestFinished, vi } from "vitest";
import { statementsOf, useWorld } from "#test/support/use-world.ts";

const world = useWorld();
const selection =
  "readiness { status installationId missingScopes checks { code status severity message remedy since " +
  "} nextActionAt evaluatedAt }";
const list = (token: string) =>
  world().graphql(`{ installations { edges { node { id merchant { id } ${selection} } } } }`, { token });

interface Edge {
  readonly node: { readonly id: string; readonly merchant: { readonly id: string } };
}

const isOf =
  (merchant: "first" | "second") =>
  ({ node }: Edge): boolean =>
    node.merchant.id === world().demo.merchants[merchant].id;

it.each(["admin", "analyst", "operator"])(
  "the readiness of an installation is shown to the token of %s",
  async (token) => {
    // The readiness includes how far the clocks of the service and the database differ.
    const now = vi.spyOn(world().clock, "now").mockImplementation(() => new Date());
    onTestFinished(() => now.mockRestore());
    const { body } = await list(token);
    expect(body.errors).toBeUndefined();
    const first = body.data.installations.edges.find(isOf("first"));
    expect(first.node.readiness).toMatchObject({
      status: "READY",
      installationId: first.node.id,
      missingScopes: [],
    });
    expect(first.node.readiness.checks[0]).toMatchObject({
      code: "API_KEY_ACTIVE",
      status: "PASS",
      severity: "BLOCKING",
    });
    expect(body.data.installations.edges).toHaveLength(token === "operator" ? 2 : 1);
  },
);

it("the readiness of a page needs as many statements as that of one installation", async () => {
  const [one, all] = [
    await statementsOf(world(), () => list("admin")),
    await statementsOf(world(), () => list("operator")),
  ];
  expect(one).toHaveLength(5);
  expect(all).toHaveLength(5);
});

it("the readiness of an installation is not shown to another merchant", async () => {
  const { body } = await list("operator");
  const foreign = body.data.installations.edges.find(isOf("second")).node.id;
  expect((await world().graphql(`{ installation(id: "${foreign}") { ${selection} } }`)).body.data).toEqual({
    installation: null,
  });
  expect(
    (await world().graphql(`{ installation(id: "${foreign}") { ${selection} } }`, { token: "storefront" }))
      .body.errors,
  ).toMatchObject([{ extensions: { code: "role_not_allowed" } }]);
});
