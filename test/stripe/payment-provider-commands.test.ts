/**
 * The commands `payment-provider`, which connect merchants to their accounts at Stripe, and what the command
 * `doctor` says about a live shop without an account.
 */
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openDatabase } from "#database/connect.ts";
import { migratedPlace, toEnvironment } from "#test/support/copies.ts";
import { type Ended, runCommand, runHere } from "#test/support/process.ts";
import { type FakeStripe, startFakeStripe } from "./fake-stripe.ts";
import {
  connect,
  connectLive,
  liveKey,
  openLiveShop,
  otherLiveKey,
  signingSecret,
  testKey,
} from "./live-shop.ts";

/** Cold starts on a busy machine. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let stripe: FakeStripe;
let environment: Readonly<Record<string, string>>;
let merchantId: string;
beforeAll(async () => {
  const account = { id: "acct_one", name: "Kvern Outdoor", isLive: true };
  stripe = await startFakeStripe({
    accounts: {
      [liveKey]: account,
      [otherLiveKey]: account,
      [testKey]: { ...account, isLive: false },
    },
  });
  environment = { ...toEnvironment(await migratedPlace()), STRIPE_API_BASE: stripe.url };
  merchantId = await createMerchant("live-shop", "live");
});
afterAll(() => stripe[Symbol.asyncDispose]());

async function createMerchant(slug: string, mode: string): Promise<string> {
  const given = [
    "--slug",
    slug,
    "--name",
    slug,
    "--locale",
    "en",
    "--market",
    "DE",
    "--mode",
    mode,
    "--json",
  ];
  const { stdout } = await runHere(["merchant", "create", ...given], environment);
  return (JSON.parse(stdout) as { id: string }).id;
}

/** Runs `payment-provider connect` with keys as its standard input. */
const connectWith = (keys: string, merchant = merchantId): Promise<Ended> =>
  runHere(["payment-provider", "connect", "--merchant", merchant, "--json"], environment, keys);

async function list(...options: readonly string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await runHere(
    ["payment-provider", "list", "--json", ...options],
    environment,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, unknown>[];
}

it.each([
  ["a test key of a merchant in live mode", () => testKey, '"secretKey" must be a key of the live mode'],
  [
    "a key that Stripe does not know",
    () => "sk_live_unknownToStripe1",
    'Stripe did not accept "secretKey", a key of the',
  ],
  ["a publishable key", () => "pk_live_publishableKey", '"secretKey" must be a secret key (sk_live_…'],
  ["an empty input", () => "", '"secretKey" must be a secret key (sk_live_…'],
  [
    "something else than a signing secret",
    () => `${liveKey}\nsecret`,
    'The signing secret must be "whsec_" and 8 to 200 letters',
  ],
])("connect refuses %s, and stores nothing", async (_name, keysOf, message) => {
  const { code, stdout, stderr } = await connectWith(keysOf());
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain(liveKey);
  expect(await list()).toEqual([]);
});

it("connect refuses an unknown merchant, and says so if Stripe does not answer", async () => {
  expect(await connectWith(liveKey, "mer_none")).toEqual({
    code: 1,
    stdout: "",
    stderr: "There is no such merchant.\n",
  });
  stripe.faultOf = () => "lost_answer";
  const { code, stderr } = await connectWith(liveKey);
  stripe.faultOf = () => undefined;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^[A-Z][^\n]*\.\n$/);
  expect(await list()).toEqual([]);
});

it("connects an account, replaces its key, lists it, and disconnects it", async () => {
  const args = ["payment-provider", "connect", "--merchant", merchantId, "--json"];
  const first = await runCommand(args, environment, `${liveKey}\r\n${signingSecret}\r\n`);
  expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" });
  const { id } = JSON.parse(first.stdout) as { id: string };
  const connected = { accountId: "acct_one", accountName: "Kvern Outdoor", mode: "live" };
  const webhookUrl = expect.stringMatching(new RegExp(`/payments/stripe/${id}/events$`)) as string;
  expect(JSON.parse(first.stdout)).toEqual({ id: expect.stringMatching(/^pcn_/), ...connected, webhookUrl });

  // The signing secret stays if only the key is replaced.
  expect(JSON.parse((await connectWith(otherLiveKey)).stdout)).toMatchObject({ id });
  const row = { id, merchantId, provider: "stripe", ...connected, keyHint: "9876", hasSigningSecret: true };
  expect(await list()).toEqual([{ ...row, disconnectedAt: null, webhookUrl }]);

  const other = await createMerchant("other-shop", "live");
  expect(await list("--merchant", other)).toEqual([]);
  const disconnect = (connection: string, merchant: string): Promise<Ended> =>
    runHere(["payment-provider", "disconnect", connection, "--merchant", merchant, "--json"], environment);
  for (const [connection, merchant] of [
    ["pcn_none", merchantId],
    [id, other],
  ] as const)
    expect(await disconnect(connection, merchant)).toEqual({
      code: 1,
      stdout: "",
      stderr: "The merchant has no active connection with this id.\n",
    });
  expect(await list("--merchant", merchantId)).toMatchObject([{ id, disconnectedAt: null }]);
  expect(JSON.parse((await disconnect(id, merchantId)).stdout)).toEqual({ id, disconnected: true });
  expect(await list("--merchant", merchantId)).toMatchObject([
    { id, disconnectedAt: expect.stringMatching(/^\d{4}-/) as string },
  ]);
  expect((await disconnect(id, merchantId)).code).toBe(1);
});

it("prints and audits the commands without the keys", async () => {
  const { stdout } = await runHere(["payment-provider", "list"], environment);
  expect(stdout).toMatch(/^accountName +Kvern Outdoor$/m);
  const database = await openDatabase({ url: environment["DATABASE_URL"] ?? "" });
  const entries = await database.db.selectFrom("auditEntry").selectAll().orderBy("id").execute();
  await database.close();
  const payments = entries.filter(({ action }) => action.startsWith("paymentProvider"));
  expect(payments.map(({ action, actor, targetType }) => [action, actor, targetType])).toEqual([
    ["paymentProviderConnect", "command", "payment_connection"],
    ["paymentProviderConnect", "command", "payment_connection"],
    ["paymentProviderDisconnect", "command", "payment_connection"],
  ]);
  for (const secret of [liveKey, otherLiveKey, signingSecret])
    expect(JSON.stringify([stdout, entries])).not.toContain(secret);
});

it("doctor fails for a live shop without an account, and warns if the signing secret is missing", async () => {
  await using shop = await openLiveShop();
  const { world } = shop;
  await world.app.server.listen({ port: 0, host: "127.0.0.1" });
  const { port } = world.app.server.server.address() as AddressInfo;
  const doctor = async (): Promise<{ readonly code: number | null; readonly line: string | undefined }> => {
    const target = ["--url", `http://127.0.0.1:${port}`, "--key", world.demo.keys.full];
    const { code, stdout } = await runHere(["doctor", ...target]);
    return { code, line: stdout.split("\n").find((line) => line.includes("payment_provider_connected")) };
  };
  expect(await doctor()).toEqual({
    code: 1,
    line: expect.stringMatching(
      /^failed +payment_provider_connected +No payment provider is connected\. Ask the merchant to connect/,
    ) as string,
  });
  await connect(shop, { secretKey: liveKey });
  expect(await doctor()).toEqual({
    code: 0,
    line: expect.stringMatching(/^warning +payment_provider_connected .*no signing secret/) as string,
  });
  await connectLive(shop);
  expect(await doctor()).toMatchObject({ code: 0, line: expect.stringMatching(/^ok /) as string });
});
