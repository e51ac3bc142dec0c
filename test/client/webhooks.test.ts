/** The TypeScript client's webhook verification, tested with the service's fixture and a third-party library. */
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import { type Trust, verifyWebhook } from "#client/webhooks.ts";
import { useWorld } from "#test/support/use-world.ts";

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly now: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBase64: string;
  readonly expect: "accept" | "reject";
  readonly rejectReason: string | null;
}

describe("the fixture of an endpoint", () => {
  const world = useWorld();

  it("is judged as documented, vector by vector", async () => {
    const { body } = await world().getWithKey(
      `/api/v1/open/webhooks/endpoints/${world().demo.webhooks.endpoint}/signature-fixture`,
    );
    const vectors = body.data.vectors as readonly Vector[];
    expect(vectors.length).toBeGreaterThan(10);
    const judge = async ({ headers, bodyBase64, secret, now }: Vector): Promise<string | null> =>
      verifyWebhook({ headers, body: Buffer.from(bodyBase64, "base64") }, { secret, now }).then(
        () => null,
        (error: unknown) => (error as { readonly fault: string }).fault ?? String(error),
      );
    const judged = await Promise.all(vectors.map(async (vector) => [vector.name, await judge(vector)]));
    expect(judged).toEqual(vectors.map(({ name, rejectReason }) => [name, rejectReason]));
  });
});

const now = 1_800_000_000;
const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString("base64")}`;
const sign = (secret: string, id: string, body: string): Record<string, string> => ({
  "webhook-id": id,
  "webhook-timestamp": String(now),
  "webhook-signature": new Webhook(secret).sign(id, new Date(now * 1000), body),
});

const ping = { type: "webhook.ping", schemaVersion: 1 };
const body = JSON.stringify(ping);

describe("a webhook", () => {
  const secrets = fc.uint8Array({ minLength: 24, maxLength: 64 }).map(secretOf);
  const ids = fc.stringMatching(/^evt_[0-9a-z]{26}$/);

  it("signed by standardwebhooks is authentic with any content, and not with one byte changed", async () => {
    const events = fc.jsonValue().map((data) => JSON.stringify({ ...ping, data }));
    const wholes = fc.record({
      secret: secrets,
      id: ids,
      event: events,
    });
    await fc.assert(
      fc.asyncProperty(wholes, fc.nat(), async ({ secret, id, event }, place) => {
        const headers = sign(secret, id, event);
        expect(await verifyWebhook({ headers, body: event }, { secret, now })).toEqual(JSON.parse(event));
        const changed = Buffer.from(event);
        changed[place % changed.length] = (changed[place % changed.length] ?? 0) ^ 1;
        await expect(verifyWebhook({ headers, body: changed }, { secret, now })).rejects.toMatchObject({
          fault: "no_matching_signature",
        });
      }),
    );
  });

  it("is authentic with either secret during rotation, and with header names in any case", async () => {
    const [old, next, other] = ["a", "b", "c"].map((letter) => secretOf(Buffer.alloc(32, letter))) as [
      string,
      string,
      string,
    ];
    const signed = sign(next, "evt_1", body);
    const received = {
      headers: {
        "Webhook-Id": "evt_1",
        "WEBHOOK-TIMESTAMP": String(now),
        "webhook-signature": signed["webhook-signature"],
      },
      body,
    };
    const both: Trust = { secret: [old, next], now };
    expect(await verifyWebhook(received, both)).toEqual(ping);
    expect(await verifyWebhook({ ...received, headers: new Headers(signed) }, both)).toEqual(ping);
    await expect(verifyWebhook(received, { secret: [old, other], now })).rejects.toMatchObject({
      fault: "no_matching_signature",
    });
  });

  it("is authentic with headers as one-element lists or as another package's Headers object", async () => {
    const secret = secretOf(Buffer.alloc(32, "a"));
    const signed = sign(secret, "evt_1", body);
    const trust: Trust = { secret, now };
    const lists = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name, [value]]));
    expect(await verifyWebhook({ headers: lists, body }, trust)).toEqual(ping);
    expect(
      await verifyWebhook({ headers: { get: (name: string) => signed[name] ?? null }, body }, trust),
    ).toEqual(ping);
    const twice = { ...lists, "webhook-id": ["evt_1", "evt_2"] };
    await expect(verifyWebhook({ headers: twice, body }, trust)).rejects.toMatchObject({
      fault: "missing_header",
    });
  });

  it.each([
    ["of a type that was added later", { type: "order.archived", schemaVersion: 1, id: "evt_1" }],
    ["with a later version of its schema", { type: "order.placed", schemaVersion: 2, id: "evt_1" }],
    ["named like a member of every object", { type: "toString", schemaVersion: 1 }],
  ])("%s has the type unknown, and its type as received", async (_name, event) => {
    const secret = secretOf(Buffer.alloc(32, "a"));
    const text = JSON.stringify(event);
    const received = { headers: sign(secret, "evt_1", text), body: text };
    expect(await verifyWebhook(received, { secret, now })).toEqual({
      ...event,
      type: "unknown",
      receivedType: event.type,
    });
  });

  it.each(["", "null", "[]", '"order.placed"', '{"type":1}'])(
    "is refused if it is signed but no event: %s",
    async (text) => {
      const secret = secretOf(Buffer.alloc(32, "a"));
      const received = { headers: sign(secret, "evt_1", text), body: text };
      await expect(verifyWebhook(received, { secret, now })).rejects.toMatchObject({
        fault: "malformed_body",
      });
    },
  );

  it("is refused quickly, however many forged signatures it has", async () => {
    const verify = vi.spyOn(crypto.subtle, "verify");
    const secret = secretOf(Buffer.alloc(32, "a"));
    const signed = sign(secret, "evt_1", body);
    const judge = (signature: string): Promise<unknown> =>
      verifyWebhook({ headers: { ...signed, "webhook-signature": signature }, body }, { secret, now });
    const wrong = Buffer.alloc(32).toString("base64");
    for (const [entry, tries] of [
      ["v1,AAAA", 0],
      [`v1,${wrong}`, 5],
    ] as const) {
      verify.mockClear();
      await expect(judge(Array.from({ length: 2000 }, () => entry).join(" "))).rejects.toMatchObject({
        fault: "no_matching_signature",
      });
      expect(verify).toHaveBeenCalledTimes(tries);
    }
    expect(await judge(`v1,AAAA v1,${wrong} ${signed["webhook-signature"]}`)).toEqual(ping);
    verify.mockRestore();
  });

  it("cannot be verified with an invalid secret, which is reported as the receiver's error", async () => {
    const headers = sign(secretOf(Buffer.alloc(32)), "evt_1", body);
    for (const secret of ["", "whsec_", "whsec_???"])
      await expect(verifyWebhook({ headers, body }, { secret, now })).rejects.toThrow(TypeError);
  });
});
