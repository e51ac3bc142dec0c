/** The loaders of what belongs to a cart. */
import type { Selectable } from "kysely";
import type {
  CartPromotionTable,
  CartTable,
  HostedCheckoutSessionTable,
  PersonalDataTable,
  PromotionCodeTable,
  PromotionTable,
} from "#database/tables.ts";
import { loadMany, loadOne, type Many, type One } from "./plain-batches.ts";
import type { PlainDatabase } from "./plain-database.ts";

export interface PlainCartLoaders {
  readonly carts: One<Selectable<CartTable>>;
  readonly promotions: One<Selectable<PromotionTable>>;
  readonly codes: One<Selectable<PromotionCodeTable>>;
  readonly addresses: One<Pick<Selectable<PersonalDataTable>, "id" | "masked">>;
  readonly cartPromotions: Many<Selectable<CartPromotionTable>>;
  readonly sessions: Many<Pick<Selectable<HostedCheckoutSessionTable>, "id" | "cartId" | "status">>;
}

export function createCartLoaders(db: PlainDatabase): PlainCartLoaders {
  return {
    carts: loadOne(
      (ids) => db.selectFrom("cart").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    promotions: loadOne(
      (ids) => db.selectFrom("promotion").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    codes: loadOne(
      (ids) => db.selectFrom("promotionCode").selectAll().where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    addresses: loadOne(
      (ids) => db.selectFrom("personalData").select(["id", "masked"]).where("id", "in", ids).execute(),
      ({ id }) => id,
    ),
    cartPromotions: loadMany(
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
    sessions: loadMany(
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
