/** Creates the DataLoaders of a cart's lines, address, promotion and delivery. */
import type { Selectable } from "kysely";
import type {
  CartPromotionTable,
  CartTable,
  HostedCheckoutSessionTable,
  PersonalDataTable,
  PromotionCodeTable,
  PromotionTable,
} from "#database/tables.ts";
import {
  createRowsByOwnerLoader,
  createRowByIdLoader,
  type RowsByOwnerLoader,
  type RowByIdLoader,
} from "./plain-batches.ts";
import type { PlainDatabase } from "./plain-database.ts";

export interface PlainCartLoaders {
  readonly carts: RowByIdLoader<Selectable<CartTable>>;
  readonly promotions: RowByIdLoader<Selectable<PromotionTable>>;
  readonly codes: RowByIdLoader<Selectable<PromotionCodeTable>>;
  readonly addresses: RowByIdLoader<Pick<Selectable<PersonalDataTable>, "id" | "masked">>;
  readonly cartPromotions: RowsByOwnerLoader<Selectable<CartPromotionTable>>;
  readonly sessions: RowsByOwnerLoader<
    Pick<Selectable<HostedCheckoutSessionTable>, "id" | "cartId" | "status">
  >;
}

export function createCartLoaders(db: PlainDatabase): PlainCartLoaders {
  return {
    carts: createRowByIdLoader(
      (ids) => db.selectFrom("cart").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    promotions: createRowByIdLoader(
      (ids) => db.selectFrom("promotion").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    codes: createRowByIdLoader(
      (ids) => db.selectFrom("promotionCode").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    addresses: createRowByIdLoader(
      (ids) => db.selectFrom("personalData").select(["id", "masked"]).where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    cartPromotions: createRowsByOwnerLoader(
      (ids) =>
        db
          .selectFrom("cartPromotion")
          .selectAll()
          .where("cartId", "in", ids)
          .orderBy("position")
          .orderBy("promotionId")
          .execute(),
      ({ cartId }) => cartId,
    ),
    sessions: createRowsByOwnerLoader(
      (ids) =>
        db
          .selectFrom("hostedCheckoutSession")
          .select(["id", "cartId", "status"])
          .where("cartId", "in", ids)
          .where("status", "not in", ["canceled", "expired"])
          .orderBy("id", "desc")
          .execute(),
      ({ cartId }) => cartId,
    ),
  };
}
