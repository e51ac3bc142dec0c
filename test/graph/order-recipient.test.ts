/**
 * An order's recipient: shown in full to staff of its merchant and hidden from all others, with as few
 * statements as possible.
 */
import { describe, expect, it } from "vitest";
import { erasePersonalData } from "#commerce/addresses/personal-data.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { runInTransaction } from "#database/transaction.ts";
import { getValueIfCallerIsMerchantStaff } from "#graph/orders/order-parts.ts";
import { askGraph, berlin, type Frontend } from "#test/operations/cart-calls.ts";
import { insertOrder } from "#test/support/orders.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";

const fields =
  "shippingAddress { recipientName company line1 line2 line3 district city regionCode postalCode " +
  "countryCode phone email } buyerEmail";
const noRecipient = { shippingAddress: null, buyerEmail: null };
const fullRecipient = {
  shippingAddress: {
    ...berlin,
    company: null,
    line2: null,
    line3: null,
    district: null,
    regionCode: null,
    phone: null,
    email: null,
  },
  buyerEmail: "anna@beispiel.example",
};

describe("the recipient of an order", () => {
  const world = useWorld();
  const read = async (id: string, frontend: Frontend): Promise<unknown> =>
    (await askGraph(world(), `query ($id: ID!) { order(id: $id) { ${fields} } }`, { id }, frontend)).data;
  const place = (buyer = "anna"): Promise<OrderAggregate> =>
    insertOrder(world(), { buyer, email: "anna@beispiel.example" });

  it("is shown to admins and operators only, with the same document for all", async () => {
    const { id } = await place();
    for (const token of ["admin", "operator"] as const)
      expect(await read(id, { token })).toEqual(fullRecipient);
    for (const frontend of [{ token: "analyst" }, { token: "storefront", buyer: "anna" }] as const)
      expect(await read(id, frontend)).toEqual(noRecipient);
  });

  it("is hidden from the system, anonymous callers and API keys", () => {
    for (const kind of ["system", "anonymous"] as const)
      expect(getValueIfCallerIsMerchantStaff("x", { viewer: { kind } as never })).toBeNull();
    expect(getValueIfCallerIsMerchantStaff("x", { viewer: { kind: "api_key" } as never })).toBeNull();
  });

  it("is null once it is erased, and if it is unknown", async () => {
    const [erased, without] = [await place(), await place()];
    const ids = [erased.address?.id ?? "", erased.buyerEmail?.id ?? ""];
    await runInTransaction(world().database.db, (transaction) =>
      erasePersonalData(transaction, ids, world().clock.now()),
    );
    const bare = { addressId: null, buyerEmailId: null, version: 2 };
    await world().database.db.updateTable("salesOrder").set(bare).where("id", "=", without.id).execute();
    for (const { id } of [erased, without]) expect(await read(id, { token: "admin" })).toEqual(noRecipient);
  });

  it("takes one statement for a list of orders, and none for roles that may not see it", async () => {
    const ids = [await place("clara"), await place("clara")].map(({ id }) => id);
    // Analysts may name a buyer only by the opaque reference.
    const buyer = await askGraph(
      world(),
      "query ($id: ID!) { order(id: $id) { buyer { reference } } }",
      { id: ids[0] },
      { token: "admin" },
    );
    const { reference } = buyer.data.buyer;
    const list = (selection: string, token: "admin" | "analyst") => () =>
      askGraph(
        world(),
        `query ($reference: String) {
          orders(first: 20, buyerReference: $reference) { edges { node { id ${selection} } } }
        }`,
        { reference },
        { token },
      );
    const plain = await statementsOf(world(), list("", "admin"));
    const full = await statementsOf(world(), list(fields, "admin"));
    expect(full.filter((text) => text.includes("sealed"))).toHaveLength(1);
    expect(full).toHaveLength(plain.length + 1);
    expect(await statementsOf(world(), list(fields, "analyst"))).toHaveLength(plain.length);
    const { data } = await list(fields, "admin")();
    expect(new Set(data.edges.map(({ node: { id } }: { node: { id: string } }) => id))).toEqual(new Set(ids));
    for (const { node } of data.edges) expect(node).toMatchObject(fullRecipient);
  });
});
