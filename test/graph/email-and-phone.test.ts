/**
 * The scalars EmailAddress and PhoneNumber: every mutation names the invalid field and does not repeat its
 * value, and stored values of older rules can be read.
 */
import { getNamedType, isInputObjectType, isObjectType } from "graphql";
import { describe, expect, it } from "vitest";
import graph from "#graph/schema.ts";
import {
  askGraph,
  berlin,
  callCart,
  type Frontend,
  type GraphAnswer,
  makeCart,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

const world = useWorld();
const merchantId = (): string => world().demo.merchants.first.id;

const fieldsWith = (scalar: string): string[] =>
  Object.values(graph.getTypeMap())
    .filter((type) => isObjectType(type) || isInputObjectType(type))
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => String(getNamedType(field.type)) === scalar)
        .map(({ name }) => `${type.name}.${name}`),
    )
    .toSorted();

it("all fields with e-mail addresses and telephone numbers have the scalars, except masked ones", () => {
  expect(fieldsWith("EmailAddress")).toEqual([
    "CartBuyerSetInput.email",
    "HostedCheckoutSessionAddressSetInput.contactEmail",
    "HostedCheckoutSessionContactSetInput.email",
    "MerchantBranding.supportEmail",
    "MerchantBrandingUpdateInput.supportEmail",
    "Order.buyerEmail",
    "PostalAddress.email",
    "PostalAddressInput.email",
    "StaffAccount.email",
    "StaffCreateInput.email",
  ]);
  expect(fieldsWith("PhoneNumber")).toEqual([
    "MerchantBranding.supportPhone",
    "MerchantBrandingUpdateInput.supportPhone",
    "PostalAddress.phone",
    "PostalAddressInput.phone",
  ]);
  expect(fieldsWith("String").filter((field) => /\.\w*(?:email|phone)(?!Hint)/i.test(field))).toEqual([]);
});

interface Call extends Frontend {
  readonly field: string;
  readonly type: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The name and value of the id argument. */
  readonly target?: readonly [name: string, id: string];
}

function run({ field, type, input, target, ...frontend }: Call): Promise<GraphAnswer> {
  const [declared, given] = target === undefined ? ["", ""] : ["$id: ID!, ", `${target[0]}: $id, `];
  const query = `mutation (${declared}$input: ${type}!) { ${field}(${given}input: $input) { __typename } }`;
  return askGraph(world(), query, { id: target?.[1], input }, frontend);
}

const malformed = "nobody-at-home";
const digits = `+${"4".repeat(30)}x`;

type CallFor = (value: unknown) => Promise<Call> | Call;
const onCart = async (): Promise<Pick<Call, "target">> => ({
  target: ["cartId", (await makeCart(world())).id],
});
const onSession = async (): Promise<Pick<Call, "target">> => ({
  target: ["sessionId", (await makeSession(world())).id],
});
const toAddress =
  (name: "email" | "phone"): CallFor =>
  async (value) => ({
    field: "cartAddressSet",
    type: "PublicCartAddressSetRequest",
    input: { address: { ...berlin, [name]: value } },
    ...(await onCart()),
  });
const toBranding =
  (name: "supportEmail" | "supportPhone"): CallFor =>
  (value) => ({
    field: "merchantBrandingUpdate",
    type: "MerchantBrandingUpdateInput",
    input: { merchantId: merchantId(), [name]: value },
    token: "admin",
  });

const calls: readonly (readonly [place: string, path: string, value: string, call: CallFor])[] = [
  [
    "cartBuyerSet",
    "/email",
    malformed,
    async (email) => ({
      field: "cartBuyerSet",
      type: "CartBuyerSetInput",
      input: { email },
      ...(await onCart()),
    }),
  ],
  ["cartAddressSet", "/address/email", malformed, toAddress("email")],
  ["cartAddressSet", "/address/phone", digits, toAddress("phone")],
  [
    "hostedCheckoutSessionAddressSet",
    "/contactEmail",
    malformed,
    async (contactEmail) => ({
      field: "hostedCheckoutSessionAddressSet",
      type: "HostedCheckoutSessionAddressSetInput",
      input: { address: berlin, contactEmail },
      ...(await onSession()),
    }),
  ],
  [
    "hostedCheckoutSessionContactSet",
    "/email",
    malformed,
    async (email) => ({
      field: "hostedCheckoutSessionContactSet",
      type: "HostedCheckoutSessionContactSetInput",
      input: { email },
      ...(await onSession()),
    }),
  ],
  ["merchantBrandingUpdate", "/supportEmail", malformed, toBranding("supportEmail")],
  ["merchantBrandingUpdate", "/supportPhone", digits, toBranding("supportPhone")],
  [
    "staffCreate",
    "/email",
    malformed,
    (email) => ({
      field: "staffCreate",
      type: "StaffCreateInput",
      input: { email, name: "Ana" },
      token: "admin",
    }),
  ],
];

describe.each(calls)("%s with a wrong %s", (_place, path, value, callFor) => {
  it("names the field, does not repeat the value, and changes nothing", async () => {
    const call = await callFor(value);
    const { error } = await withoutTrace(world(), () => run(call));
    expect(error).toMatchObject({
      code: expect.stringMatching(/^(?:invalid_field|address_invalid)$/),
      details: [{ in: "body", field: path, code: "pattern_mismatch", message: expect.any(String) }],
    });
    expect(JSON.stringify(error)).not.toContain(value);
  });

  it("refuses a value that is no text, and names the argument or the variable", async () => {
    const call = await callFor(4_977_000_111);
    const { error, status } = await withoutTrace(world(), () => run(call));
    expect([status, error.code]).toEqual([400, "malformed_request"]);
    expect(error.message).toMatch(/"(?:\$input|[\w.[\]]+)".*/);
    expect(error.message).toMatch(
      /(?:e-mail address|telephone number) as a text|(?:EmailAddress|PhoneNumber): A text/,
    );
    expect(JSON.stringify(error)).not.toContain("4977000111");
  });
});

it("an e-mail address with letters of another script is accepted and shown", async () => {
  const { data, error } = await askGraph(
    world(),
    'mutation { staffCreate(input: { email: "ana@bücher.example", name: "Ana" }) { staff { email } } }',
    {},
    { token: "admin" },
  );
  expect(error).toBeUndefined();
  expect(data.staff.email).toBe("ana@bücher.example");
});

it("values that were stored under other rules can be read", async () => {
  const [email, phone] = ["help desk at shop", "call 12 34"];
  const { db } = world().database;
  const id = "stf_00000000000000000000000009";
  await db
    .insertInto("staffAccount")
    .values({
      id,
      merchantId: merchantId(),
      email,
      emailNormalized: email,
      name: "Ana",
      passwordHash: "x",
      createdAt: world().clock.now(),
    })
    .execute();
  await db.updateTable("merchantBranding").set({ supportEmail: email, supportPhone: phone }).execute();
  const read = async (query: string): Promise<unknown> =>
    (await askGraph(world(), query, {}, { token: "admin" })).data;
  expect(await read("{ staffAccounts(first: 100) { edges { node { id email } } } }")).toMatchObject({
    edges: expect.arrayContaining([{ node: { id, email } }]),
  });
  expect(
    await read(`{ merchant(id: "${merchantId()}") { branding { supportEmail supportPhone } } }`),
  ).toEqual({ branding: { supportEmail: email, supportPhone: phone } });
});

it("REST still names the field of a wrong e-mail address and telephone number", async () => {
  const { id: cartId } = await makeCart(world());
  const body = { address: { ...berlin, email: malformed, phone: digits } };
  const answer = await callCart(world(), "setPublicCartAddress", { cartId, body });
  expect([answer.status, answer.body.error.code]).toEqual([400, "address_invalid"]);
  expect(answer.body.error.details).toEqual([
    {
      in: "body",
      field: "/address/phone",
      code: "pattern_mismatch",
      message: "The phone number must be in E.164 form: + and 7 to 15 digits, country code first.",
      allowed: null,
    },
    {
      in: "body",
      field: "/address/email",
      code: "pattern_mismatch",
      message: "The value must be an e-mail address.",
      allowed: null,
    },
  ]);
});
