/** Events written by a command contain the same links as events written by the service. */
import { expect, it } from "vitest";
import { createEventSubjectRendererForCli } from "#app/services.ts";
import { getPublicUrl, parseServiceSettings } from "#app/settings.ts";
import { runInTransaction } from "#database/transaction.ts";
import { makeCart } from "#test/operations/cart-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import type { EventSubjectRenderer } from "#webhooks/outbox.ts";

const world = useWorld();
const environment = { ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}` };

it.each([
  [{}, "http://127.0.0.1:4000"],
  [{ HOST: "localhost", PORT: "8080" }, "http://localhost:8080"],
  [{ HOST: "::1", PORT: "8080" }, "http://[::1]:8080"],
  [{ PORT: "8080", PUBLIC_URL: "https://api.example.com" }, "https://api.example.com"],
])("links in events have the public address: with %o they begin with %s", (given, expected) => {
  expect(getPublicUrl(parseServiceSettings({ ...environment, ...given }))).toBe(expected);
});

it.each([
  [{}, "http://127.0.0.1:4000"],
  [{ PUBLIC_URL: "https://api.example.com" }, "https://api.example.com"],
])("a command with %o publishes a cart like the service at %s", async (given, base) => {
  const { app, database, demo } = world();
  const { id } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
  const subject = {
    type: "cart",
    id,
    merchantId: demo.merchants.first.id,
    object: undefined,
    batch: {},
  } as const;
  const renderCart = (render: EventSubjectRenderer): Promise<string> =>
    runInTransaction(database.db, async (transaction) => JSON.stringify(await render(transaction, subject)));
  const byService = await renderCart(app.services.render);
  expect(byService).toContain(`"url":"${publicUrl}/media/`);
  expect(
    await renderCart(
      createEventSubjectRendererForCli(database.db, parseServiceSettings({ ...environment, ...given })),
    ),
  ).toBe(byService.replaceAll(publicUrl, base));
});
