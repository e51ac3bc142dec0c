/** `Installation.webhookEvent` finds an event by its id, if the installation was sent the event. */
import { expect, it } from "vitest";
import { askGraph } from "#test/operations/cart-calls.ts";
import { installationOf, makeEndpoint } from "#test/operations/webhook-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import { makeDeliveries, makeEvents } from "#test/webhooks/delivery-rows.ts";

const world = useWorld();

it("an installation's event is found with its deliveries; other events are not found", async () => {
  const { id: endpointId } = await makeEndpoint(world());
  const installationId = await installationOf(world());
  const [sent = "", unsent = ""] = await makeEvents(world(), 2);
  const [deliveryId] = await makeDeliveries(world(), [sent], { endpointId });
  const find = async (id: string): Promise<Record<string, unknown>> => {
    const query = `{ installations(first: 100) { edges { node { id webhookEvent(id: "${id}") {
      id type deliveries { id } } } } } }`;
    const { data } = await askGraph(world(), query, {}, { token: "admin" });
    const nodes: { id: string; webhookEvent: unknown }[] = data.edges.map(
      ({ node }: { node: { id: string; webhookEvent: unknown } }) => node,
    );
    return Object.fromEntries(
      nodes.filter(({ webhookEvent }) => webhookEvent !== null).map((node) => [node.id, node.webhookEvent]),
    );
  };
  expect(await find(sent)).toEqual({
    [installationId]: { id: sent, type: "order.placed", deliveries: [{ id: deliveryId }] },
  });
  for (const id of [unsent, "evt_00000000000000000000000000", ""]) expect(await find(id)).toEqual({});
});
