/** What a cart's warnings say to people; programs read the code and the data. */
import type { StoredWarning, WarningCode } from "./cart-aggregate.ts";

const messages: Readonly<Record<WarningCode, string>> = {
  price_changed: "The price of a line has changed.",
  quantity_reduced: "There is less of a line than was wanted; its quantity was reduced.",
  out_of_stock: "A line is sold out.",
  line_unavailable: "A line is no longer sold here.",
  promotion_suspended: "The promotion code does not apply at the moment.",
  promotion_removed: "A promotion code was removed.",
  address_expired: "The address has expired and must be given again.",
  currency_changed: "The currency has changed.",
  market_changed: "The cart is now for another country.",
};

export interface WarningView extends StoredWarning {
  readonly message: string;
}

export function toWarning({ code, lineId, data }: StoredWarning): WarningView {
  return { code, lineId, message: messages[code], data };
}
