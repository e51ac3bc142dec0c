/**
 * Inserts carts, saves repriced carts and publishes their events. (A change of only the status is saved by
 * cart-transitions.ts.) One statement writes the cart with its changed lines and promotions and raises the
 * version by one. The statement is buffered, so that it is sent together with the events and with COMMIT.
 */
import { type RawBuilder, sql } from "kysely";
import { createNamedSqlTemplateParameter, prepareStatementTemplate } from "#database/prepared-template.ts";
import { bufferWriteUntilNextStatement, type Transaction } from "#database/transaction.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import type { EventType } from "#webhooks/event-types.ts";
import {
  type CartAggregate,
  findPromotionAddedByCode,
  type StoredCartLine,
  type StoredCartPromotion,
} from "./cart-aggregate.ts";
import { buyerEmailRetentionMs } from "./cart-status.ts";
import { isStoredCartLineUnchanged, type RepricedCart } from "./cart-draft.ts";
import {
  cartId,
  cartRecord,
  cartRowColumns,
  type CartValuesToStore,
  merchantId,
  savedAt,
  toCartInsertAndUpdateParameters,
  upsertAutomaticPromotions,
  upsertCodePromotion,
  upsertLines,
} from "./cart-rows-sql.ts";
import { getPreviousValuesOfChangedCartFields } from "./render-cart.ts";

/** Inserts a new cart with version 1. */
export function insertCart(transaction: Transaction, save: CartValuesToStore): Promise<void> {
  const { automatic, coded } = toPromotionRows(save.next);
  return bufferCartWrite(transaction, {
    name: "insert",
    parts: [
      { name: "cart", part: insertPart },
      ...linesPart(save.next.lines),
      ...automaticPart(automatic),
      ...codePart(coded),
    ],
    values: toCartInsertAndUpdateParameters(save),
  });
}

const insertPart = sql`saved as (
      insert into cart (id, merchant_id, status, version, created_at, ${sql.raw(cartRowColumns.join(", "))})
      select ${cartId}, ${merchantId}, 'active', 1, ${savedAt}::timestamptz,
      ${sql.raw(cartRowColumns.map((name) => `n.${name}`).join(", "))} from ${cartRecord})`;

export interface CartToUpdate {
  /** The stored cart, which this transaction has locked. */
  readonly before: CartAggregate;
  readonly next: RepricedCart;
  readonly now: Date;
  readonly status: "active" | "locked";
}

/** Updates a locked cart and raises its version by one. Writes only the lines and promotions that differ. */
export function updateCart(
  transaction: Transaction,
  { before, next, now, status }: CartToUpdate,
): Promise<void> {
  const storedLines = new Map(before.lines.map((line) => [line.id, line]));
  const changedLines = next.lines.filter(
    (line) => !isStoredCartLineUnchanged(line, storedLines.get(line.id)),
  );
  const lineIds = new Set(next.lines.map(({ id }) => id));
  const { automatic, coded } = toPromotionRows(next);
  const promotionIds = new Set(next.promotions.map(({ promotionId }) => promotionId));
  const isRemoved = ({ promotionId, trigger }: StoredCartPromotion): boolean =>
    !promotionIds.has(promotionId) && (trigger === "automatic" || coded.length === 0);
  return bufferCartWrite(transaction, {
    name: "update",
    parts: [
      { name: "cart", part: updatePart },
      ...(next.buyerEmailId === null ? [] : [emailPart(next.buyerEmailId, now)]),
      ...removedLinesPart(before.lines.filter(({ id }) => !lineIds.has(id))),
      ...removedPromotionsPart(before.promotions.filter(isRemoved)),
      ...linesPart(changedLines),
      ...automaticPart(automatic),
      ...codePart(coded),
    ],
    values: {
      ...toCartInsertAndUpdateParameters({ cartId: before.id, merchantId: before.merchant.id, next, now }),
      version: before.version + 1,
      status,
      addressTokenDigest: next.addressTokenDigest ?? null,
    },
  });
}

/**
 * Sets the version to one more than the version that the command has read. If the stored version has changed
 * meanwhile, the database trigger `cart_saved` refuses the update, because it accepts only the next version
 * after the stored version.
 */
const updatePart = sql`saved as (
      update cart c set status = ${createNamedSqlTemplateParameter("status")},
      version = ${createNamedSqlTemplateParameter("version")},
      ${sql.raw(cartRowColumns.map((name) => `${name} = n.${name}`).join(", "))},
        address_token_digest = case when n.address_id is null then null else
        coalesce(${createNamedSqlTemplateParameter("addressTokenDigest")}::bytea, c.address_token_digest) end
      from ${cartRecord} where c.id = ${cartId})`;

/**
 * One part of the SQL statement that writes a cart. A part without rows to write is left out of the
 * statement.
 */
interface CartWritePart {
  readonly name: string;
  readonly part: RawBuilder<unknown>;
  readonly values?: Readonly<Record<string, unknown>>;
}

interface CartWrite {
  readonly name: string;
  readonly parts: readonly CartWritePart[];
  readonly values: Readonly<Record<string, unknown>>;
}

function bufferCartWrite(transaction: Transaction, { name, parts, values }: CartWrite): Promise<void> {
  const names = parts.map((part) => part.name);
  const query = prepareStatementTemplate(transaction, {
    form: `${name} cart: ${names.join(" ")}`,
    write: () => sql`with ${sql.join(parts.map(({ part }) => part))} select 1`,
    values: {
      ...values,
      ...Object.fromEntries(parts.flatMap((part) => Object.entries(part.values ?? {}))),
    },
  });
  const tables = ["cart", "cartLine", "cartPromotion"] as const;
  return bufferWriteUntilNextStatement(transaction, {
    query,
    tables: names.includes("email") ? [...tables, "personalData"] : tables,
  });
}

const emailPart = (id: string, now: Date): CartWritePart => ({
  name: "email",
  part: sql`email as (
      update personal_data set erase_after = ${createNamedSqlTemplateParameter("emailEraseAfter")}::timestamptz
      where id = ${createNamedSqlTemplateParameter("emailId")}::text and erased_at is null)`,
  values: { emailId: id, emailEraseAfter: new Date(now.getTime() + buyerEmailRetentionMs) },
});

const removedLinesPart = (lines: readonly StoredCartLine[]): readonly CartWritePart[] =>
  lines.length === 0
    ? []
    : [
        {
          name: "removed-lines",
          part: sql`gone as (delete from cart_line l where l.cart_id = ${cartId}
      and l.id = any(${createNamedSqlTemplateParameter("removedLineIds")}::text[]))`,
          values: { removedLineIds: lines.map(({ id }) => id) },
        },
      ];

const removedPromotionsPart = (promotions: readonly StoredCartPromotion[]): readonly CartWritePart[] =>
  promotions.length === 0
    ? []
    : [
        {
          name: "removed-promotions",
          part: sql`dropped as (delete from cart_promotion p where p.cart_id = ${cartId}
      and p.promotion_id = any(${createNamedSqlTemplateParameter("removedPromotionIds")}::text[]))`,
          values: { removedPromotionIds: promotions.map(({ promotionId }) => promotionId) },
        },
      ];

const linesPart = (lines: readonly StoredCartLine[]): readonly CartWritePart[] =>
  lines.length === 0 ? [] : [{ name: "lines", part: upsertLines, values: { lines: JSON.stringify(lines) } }];

type CartPromotionRow = StoredCartPromotion & { readonly position: number };

function toPromotionRows({ promotions }: RepricedCart): {
  readonly automatic: readonly CartPromotionRow[];
  readonly coded: readonly CartPromotionRow[];
} {
  const rows = promotions.map((promotion, position) => ({ ...promotion, position }));
  return {
    automatic: rows.filter(({ trigger }) => trigger === "automatic"),
    coded: rows.filter(({ trigger }) => trigger === "code"),
  };
}

const automaticPart = (rows: readonly CartPromotionRow[]): readonly CartWritePart[] =>
  rows.length === 0
    ? []
    : [
        {
          name: "automatic",
          part: upsertAutomaticPromotions,
          values: { automatic: JSON.stringify(rows) },
        },
      ];

const codePart = (rows: readonly CartPromotionRow[]): readonly CartWritePart[] =>
  rows.length === 0
    ? []
    : [{ name: "code", part: upsertCodePromotion, values: { code: JSON.stringify(rows) } }];

/**
 * Returns the types of the events about the cart's promotion code, by comparing the cart before and after a
 * change.
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
export interface CartEventPublishContext extends Pick<MerchantCommandContext, "outbox" | "now"> {
  readonly publicUrl: string;
}

/**
 * Publishes the events of one cart change, with the previous values of the changed fields. `after` must be
 * the cart and its checkout session at the end of the transaction; the stock of its lines is that of the time
 * at which the cart was read.
 */
export function publishCartEvents(
  { outbox, now, publicUrl }: CartEventPublishContext,
  eventTypes: readonly EventType[],
  { before, after }: { readonly before: CartAggregate | null; readonly after: CartAggregate },
): void {
  const previous =
    before === null ? null : getPreviousValuesOfChangedCartFields({ before, after }, { now, publicUrl });
  for (const type of eventTypes) outbox.append({ type, id: after.id, previous, object: after });
}
