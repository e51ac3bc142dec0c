/** The console's words for actions and permissions cover everything that the service knows. */
import { readFileSync } from "node:fs";
import { buildSchema } from "graphql";
import { describe, expect, it } from "vitest";
import { scopeTitles } from "#access/viewer.ts";
import {
  getAuditActionsOfGroup,
  formatAuditAction,
  auditActionGroups,
} from "#pages/console/browser/audit/action-words.ts";
import { grantableScopes } from "#pages/console/browser/parts/permissions.ts";

const read = (path: string): string =>
  readFileSync(new URL(`../../../schema/${path}`, import.meta.url).pathname, "utf8");
const schema = buildSchema(read("schema.graphql"));
const listed = Object.keys(auditActionGroups).flatMap(getAuditActionsOfGroup);

describe("the words of audit actions", () => {
  it("cover every mutation that a merchant's staff can read about, once", () => {
    // Actions of the platform, and the creation of buyer sessions, which is not in the audit log.
    const others = [
      "appCreate",
      "buyerSessionCreate",
      "oauthClientCreate",
      "oauthClientDisable",
      "oauthClientEnable",
    ];
    const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {});
    expect(mutations.filter((name) => !listed.includes(name)).toSorted()).toEqual(others);
    expect(new Set(listed).size).toBe(listed.length);
  });

  it("cover every REST operation that changes data", () => {
    const { paths } = JSON.parse(read("openapi.json")) as {
      paths: Readonly<Record<string, Readonly<Record<string, { operationId?: string }>>>>;
    };
    const changing = Object.values(paths)
      .flatMap((methods) => Object.entries(methods))
      .filter(([method]) => ["post", "put", "patch", "delete"].includes(method))
      .map(([, { operationId = "" }]) => operationId);
    expect(changing.filter((name) => !name.startsWith("search") && !listed.includes(name))).toEqual([]);
  });

  it("are sentences without names of the code", () => {
    for (const action of listed) {
      expect(formatAuditAction(action), action).toMatch(/^(?:[a-z]+ed|put|sent|set) /);
      expect(formatAuditAction(action), action).not.toMatch(/[a-z][A-Z]|undefined/);
    }
    expect(formatAuditAction("apiKeyRotate")).toBe("rotated the API key");
    expect(formatAuditAction("setPublicCartAddress")).toBe("set the cart address");
    expect(formatAuditAction("createInstallationWebhook")).toBe("created the webhook");
    expect(formatAuditAction("somethingUnknown")).toBeUndefined();
  });
});

it("the console's permissions have the same titles as the consent page", () => {
  expect(Object.fromEntries(grantableScopes.map(({ name, title }) => [name, title]))).toEqual(scopeTitles);
});
