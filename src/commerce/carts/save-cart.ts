/**
 * Inserts carts, saves repriced carts and publishes their events. (A change of only the status is saved by
 * cart-transitions.ts.) One statement writes the cart with its lines and promotions and raises the version by
 * one. The statement updates nothing if the cart no longer has the expected version.
 */
import { type CompiledQuery, type RawBuilder, sql } from "kysely";
import { createTemplateSqlParameter, prepareStatementTemplate } from "#database/prepared-template.ts";
import { runStatementsPipelined, type Transaction } from "#database/transaction.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import type { EventType } from "#webhooks/event-types.ts";
import {
  type CartAggregate,
  cartColumns,
  cartColumnTypes,
  findPromotionAddedByCode,
  type StoredCartLine,
  type StoredCartPromotion,
  toSnakeCase,
} from "./cart-aggregate.ts";
import { buyerEmailRetentionMs, cartLifetimeMs } from "./cart-status.ts";
import { buildCartsByIdSqlQuery, type CartsByIdSqlQueryRow } from "./find-carts.ts";
import { type RepricedCart, toCartColumnValues } from "./cart-draft.ts";
import { getPreviousValuesOfChangedCartFields } from "./render-cart.ts";

export interface CartToInsert {
  readonly cartId: string;
  readonly merchantId: string;
  readonly next: RepricedCart;
  readonly now: Date;
}

/** Inserts a new cart with version 1 and returns the stored cart. */
export function insertCart(transaction: Transaction, save: CartToInsert): Promise<CartAggregate> {
  return saveAndReadCart(
    transaction,
    prepareStatementTemplate(transaction, {
      form: "insert cart",
      write: insertStatement,
      values: savedValues(save),
    }),
    save,
  );
}

/**
 * Saves the cart with one statement and reads it with a second statement, which also sees the values that
 * database triggers changed.
 */
async function saveAndReadCart(
  transaction: Transaction,
  write: CompiledQuery,
  { cartId: id, now }: CartToInsert,
): Promise<CartAggregate> {
  const [saved, read] = await runStatementsPipelined(transaction, [
    write,
    buildCartsByIdSqlQuery(transaction, [id], now),
  ]);
  const [after] = (read?.rows ?? []) as readonly CartsByIdSqlQueryRow[];
  if (saved?.rows.length !== 1 || after === undefined)
    throw new Error(`Cart ${id} has changed since it was locked.`);
  return after.cart;
}

const insertStatement = (): RawBuilder<unknown> => sql`
    with saved as (
      insert into cart (id, merchant_id, status, version, created_at, ${sql.raw(columns.join(", "))})
      select ${cartId}, ${merchantId}, 'active', 1, ${savedAt}::timestamptz,
      ${sql.raw(columns.map((name) => `n.${name}`).join(", "))} from ${cartRecord}
      returning id),
    ${upsertLines}, ${upsertPromotions}
    select 1`;

export interface CartToUpdate extends CartToInsert {
  /** The version of the cart before the update; the update changes nothing if the stored version differs. */
  readonly version: number;
  readonly status: "active" | "locked";
}

/** Updates a locked cart, raises its version by one, and returns the stored cart. */
export function updateCart(
  transaction: Transaction,
  { version, status, ...save }: CartToUpdate,
): Promise<CartAggregate> {
  const { next, now: at } = save;
  const values = {
    ...savedValues(save),
    version,
    status,
    addressTokenDigest: next.addressTokenDigest ?? null,
    emailEraseAfter: new Date(at.getTime() + buyerEmailRetentionMs),
    emailId: next.buyerEmailId,
    lineIds: next.lines.map((line) => line.id),
    promotionIds: next.promotions.map(({ promotionId }) => promotionId),
    isWithoutCode: !next.promotions.some(({ trigger }) => trigger === "code"),
  };
  return saveAndReadCart(
    transaction,
    prepareStatementTemplate(transaction, { form: "update cart", write: updateStatement, values }),
    save,
  );
}

const updateStatement = (): RawBuilder<unknown> => sql`
    with saved as (
      update cart c set status = ${createTemplateSqlParameter("status")}, version = c.version + 1,
      ${sql.raw(columns.map((name) => `${name} = n.${name}`).join(", "))},
        address_token_digest = case when n.address_id is null then null else
        coalesce(${createTemplateSqlParameter("addressTokenDigest")}::bytea, c.address_token_digest) end
      from ${cartRecord} where c.id = ${cartId} and c.version = ${createTemplateSqlParameter("version")}
      returning c.id),
    email as (
      update personal_data set erase_after = ${createTemplateSqlParameter("emailEraseAfter")}::timestamptz
      where id = ${createTemplateSqlParameter("emailId")}::text and erased_at is null returning 1),
    gone as (delete from cart_line l where l.cart_id = ${cartId}
    and l.id <> all(${createTemplateSqlParameter("lineIds")}::text[]) returning 1),
    dropped as (
      delete from cart_promotion p where p.cart_id = ${cartId}
      and p.promotion_id <> all(${createTemplateSqlParameter("promotionIds")}::text[])
        and (p.trigger = 'automatic' or ${createTemplateSqlParameter("isWithoutCode")})
      returning 1),
    ${upsertLines}, ${upsertPromotions}
    select id from saved`;

const cartId = createTemplateSqlParameter<string>("cartId");
const merchantId = createTemplateSqlParameter<string>("merchantId");
const savedAt = createTemplateSqlParameter<Date>("now");

/** Returns the SQL parameters that the statements for inserting and for updating a cart have in common. */
function savedValues({
  cartId: id,
  merchantId: owner,
  next,
  now: at,
}: CartToInsert): Readonly<Record<string, unknown>> {
  const rows = next.promotions.map(
    (promotion, position) =>
      ({ ...promotion, position }) satisfies StoredCartPromotion & { position: number },
  );
  return {
    cartId: id,
    merchantId: owner,
    now: at,
    record: JSON.stringify(toCartRecord(next, at)),
    lines: JSON.stringify(next.lines satisfies readonly StoredCartLine[]),
    automatic: JSON.stringify(rows.filter(({ trigger }) => trigger === "automatic")),
    code: JSON.stringify(rows.filter(({ trigger }) => trigger === "code")),
  };
}

/**
 * SQL types of the columns that are saved with a cart in addition to those in `cartColumns`. The digest of
 * the address token is not in this list: it is binary, which JSON cannot contain, so the statement has a
 * separate parameter for the digest.
 */
const furtherColumnTypes = {
  buyer_email_id: "text",
  address_id: "text",
  address_expires_at: "timestamptz",
  address_expires_at_max: "timestamptz",
  updated_at: "timestamptz",
  expires_at: "timestamptz",
};

const columnTypes: readonly (readonly [column: string, type: string])[] = [
  ...cartColumns.map((name) => [toSnakeCase(name), cartColumnTypes[name]] as const),
  ...Object.entries(furtherColumnTypes),
];
const types = columnTypes.map(([column, type]) => `${column} ${type}`).join(", ");
const columns = columnTypes.map(([column]) => column);

function toCartRecord(next: RepricedCart, at: Date): Readonly<Record<string, unknown>> {
  const values = toCartColumnValues(next);
  const { address } = next;
  const further: Readonly<Record<keyof typeof furtherColumnTypes, string | null>> = {
    buyer_email_id: next.buyerEmailId,
    address_id: address?.id ?? null,
    address_expires_at: address?.expiresAt ?? null,
    address_expires_at_max: address?.expiresAtMax ?? null,
    updated_at: at.toISOString(),
    expires_at: new Date(at.getTime() + cartLifetimeMs).toISOString(),
  };
  return { ...Object.fromEntries(cartColumns.map((name) => [toSnakeCase(name), values[name]])), ...further };
}

const cartRecord = sql`json_to_record(${createTemplateSqlParameter("record")}::json) as n(${sql.raw(types)})`;

const upsertLines = sql`lines as (
    insert into cart_line as l (id, cart_id, merchant_id, position, product_id, variant_id, quantity,
    unit_price_minor, compare_at_minor, subtotal_minor,
      discount_minor, tax_minor, total_minor, display, requires_shipping, restrictions, created_at)
    select n.id, ${cartId}, ${merchantId}, n.position, n."productId", n."variantId", n.quantity,
    n."unitPriceMinor", n."compareAtMinor", n."subtotalMinor",
      n."discountMinor", n."taxMinor", n."totalMinor", n.display, n."requiresShipping", n.restrictions,
      ${savedAt}::timestamptz
    from json_to_recordset(${createTemplateSqlParameter("lines")}::json) as n(id text, position int, "productId" text,
    "variantId" text,
      quantity int, "unitPriceMinor" bigint, "compareAtMinor" bigint, "subtotalMinor" bigint, "discountMinor"
      bigint, "taxMinor" bigint, "totalMinor" bigint,
      display jsonb, "requiresShipping" boolean, restrictions text[])
    on conflict (id) do update set position = excluded.position, quantity = excluded.quantity,
    unit_price_minor = excluded.unit_price_minor,
      compare_at_minor = excluded.compare_at_minor, subtotal_minor = excluded.subtotal_minor, discount_minor =
      excluded.discount_minor,
      tax_minor = excluded.tax_minor, total_minor = excluded.total_minor, display = excluded.display,
      requires_shipping = excluded.requires_shipping,
      restrictions = excluded.restrictions)`;

const selectPromotions = (trigger: StoredCartPromotion["trigger"]): RawBuilder<unknown> => sql`
    select ${cartId}, n."promotionId", n.trigger, n."promotionCodeId", n.state, n."suspendedReason",
    n."discountMinor", n.allocations, n.position
    from json_to_recordset(${createTemplateSqlParameter(trigger)}::json) as n("promotionId" text, trigger text,
      "promotionCodeId" text, state text, "suspendedReason" text, "discountMinor" bigint, allocations jsonb,
      position int)`;

/**
 * SQL that inserts or updates the promotions of a cart. A cart has at most one promotion with a code. The `on
 * conflict` clause for promotions with a code therefore compares only the cart, not the promotion, so that a
 * new code overwrites the row of the old code.
 */
const upsertPromotions = upsertPromotionsSql();

function upsertPromotionsSql(): RawBuilder<unknown> {
  const target = sql`cart_promotion as p (cart_id, promotion_id, trigger, promotion_code_id, state,
    suspended_reason, discount_minor, allocations, position)`;
  const amounts = sql`state = excluded.state, suspended_reason = excluded.suspended_reason, discount_minor =
    excluded.discount_minor,
      allocations = excluded.allocations, position = excluded.position`;
  return sql`automatic as (
    insert into ${target} ${selectPromotions("automatic")}
    on conflict (cart_id, promotion_id) do update set ${amounts}),
  coded as (
    insert into ${target} ${selectPromotions("code")}
    on conflict (cart_id) where trigger = 'code' do update
    set promotion_id = excluded.promotion_id, promotion_code_id = excluded.promotion_code_id, ${amounts})`;
}

/**
 * Returns the types of the events that a change of the cart's promotion code requires, by comparing the cart
 * before and after the change.
 */
export function getPromotionCodeEventTypes(before: CartAggregate, after: CartAggregate): EventType[] {
  const [previous, current] = [findPromotionAddedByCode(before), findPromotionAddedByCode(after)];
  if (current === undefined) return previous === undefined ? [] : ["cart.promotion_removed"];
  const isNew = previous?.promotionCodeId !== current.promotionCodeId;
  if (current.state === "suspended")
    return isNew
      ? ["cart.promotion_applied", "cart.promotion_suspended"]
      : previous.state === "suspended"
        ? []
        : ["cart.promotion_suspended"];
  if (isNew) return ["cart.promotion_applied"];
  return previous.state === "suspended" ? ["cart.promotion_restored"] : [];
}

/** The part of a command's context that is needed to publish events about a cart. */
export interface CartEventPublishContext extends Pick<CommandContext, "outbox" | "now"> {
  readonly publicUrl: string;
}

/**
 * Publishes the events of one cart change, with the previous values of the changed fields. `isFinal` is true
 * if the cart and its checkout session do not change again in this transaction; the events then contain the
 * cart `after`. Otherwise, the events read the cart again at the end of the transaction.
 */
export function publishCartEvents(
  { outbox, now, publicUrl }: CartEventPublishContext,
  eventTypes: readonly EventType[],
  {
    before,
    after,
    isFinal = true,
  }: { readonly before: CartAggregate | null; readonly after: CartAggregate; readonly isFinal?: boolean },
): void {
  const previous =
    before === null ? null : getPreviousValuesOfChangedCartFields({ before, after }, { now, publicUrl });
  for (const type of eventTypes)
    outbox.append({ type, id: after.id, previous, ...(isFinal ? { object: after } : {}) });
}
