/** The sizing page: its estimates follow from the measured values and the retention of each table. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { requestRetentionDays } from "#access/request-log.ts";
import {
  type ChangeCost,
  changeNames,
  estimateSizing,
  renderSizing,
  type SizingRecord,
} from "#bench/sizing-page.ts";
import { eventRetentionDays } from "#webhooks/delivery-rules.ts";

const change = (name: string, tableBytes: Readonly<Record<string, number>>): ChangeCost => ({
  name,
  requests: 1,
  deliveries: 0,
  gatewayCpuMs: 0,
  workerCpuMs: 0,
  postgresCpuMs: 0,
  logBytes: 0,
  tableBytes,
});
const perMinute = 1 / 1440;

describe("the estimate", () => {
  it("counts a row no longer than it is kept", () => {
    const changes = [change(changeNames.order, { sales_order: 1000, event: 100, api_request: 10 })];
    const diskBytes = (days: number): number => estimateSizing({ changes }, { perMinute, days }).diskBytes;
    expect(diskBytes(1)).toBeCloseTo(1110);
    expect(diskBytes(365)).toBeCloseTo(1000 * 365 + 100 * eventRetentionDays + 10 * requestRetentionDays);
  });

  it("adds nine abandoned carts with an address to each order, and no other change", () => {
    const changes = [
      { ...change(changeNames.order, {}), gatewayCpuMs: 30, logBytes: 1000 },
      { ...change(changeNames.cart, { cart: 100 }), gatewayCpuMs: 2, workerCpuMs: 1 },
      { ...change(changeNames.address, {}), postgresCpuMs: 4 },
      { ...change(changeNames.stock, { search_term: 9999 }), gatewayCpuMs: 99 },
    ];
    const found = estimateSizing({ changes }, { perMinute: 1000, days: 1 });
    expect(found.gatewayCores).toBeCloseTo((1000 * (30 + 9 * 2)) / 60_000);
    expect(found.workerCores).toBeCloseTo((1000 * 9) / 60_000);
    expect(found.postgresCores).toBeCloseTo((1000 * 9 * 4) / 60_000);
    expect(found.diskBytes).toBeCloseTo(1000 * 1440 * 900);
    expect(found.logBytesPerDay).toBeCloseTo(1000 * 1440 * 1000);
  });
});

it("the page shows the measured bytes of every table that grows with orders, and how long rows are kept", () => {
  const text = readFileSync(new URL("../../docs/sizing.json", import.meta.url), "utf8");
  const record = JSON.parse(text) as SizingRecord;
  expect(record.changes.map(({ name }) => name)).toEqual(Object.values(changeNames));
  const page = renderSizing(record);
  const keptOf = (table: string): string | undefined =>
    new RegExp(`^\\| \`${table}\` +\\| ([^|]+?) +\\| [ 0-9|]+$`, "m").exec(page)?.[1];
  for (const table of ["event", "webhook_delivery", "webhook_attempt"]) expect(keptOf(table)).toBe("30 days");
  expect(keptOf("idempotency_record")).toBe("7 days");
  expect(keptOf("api_request")).toBe("3 days");
  for (const table of ["cart", "cart_line", "sales_order", "order_line", "stock_hold", "audit_entry"])
    expect(keptOf(table), table).toBe("without end");
  expect(page).toMatch(/^\| 1000 +\| \d/m);
});
