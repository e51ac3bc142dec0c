/**
 * Calls every operation with each of the sixteen sets of scopes, with an API key and with a DPoP access
 * token. Calls without the scope name the missing scope and change nothing.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { integratorScopes as allScopes, type PermissionScope } from "#access/viewer.ts";
import { askGraph } from "#test/operations/cart-calls.ts";
import { installationOf } from "#test/operations/webhook-calls.ts";
import { digestTables, withoutProofs } from "#test/support/all-rows.ts";
import { dpopChallenge, dpopChallengeFor, expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";
import { type Answer, publicUrl } from "#test/support/world.ts";
import { requestOf, validCalls } from "./valid-calls.ts";

const world = useWorld();

type Sent = ReturnType<typeof requestOf>;

interface Credential {
  readonly kind: "key" | "token";
  readonly scopes: readonly PermissionScope[];
  readonly send: (request: Sent) => Promise<Answer>;
}

const subsets: readonly (readonly PermissionScope[])[] = Array.from(
  { length: 2 ** allScopes.length },
  (_, bits) => allScopes.filter((_scope, index) => (bits >> index) % 2 === 1),
);
const challengesOf = {
  key: (scope: string): string => `Bearer realm="${publicUrl}", error="insufficient_scope", scope="${scope}"`,
  token: (scope: string): string =>
    dpopChallengeFor("insufficient_scope").replace(", resource", `, scope="${scope}", resource`),
} as const;

let contract: Contract;
const credentials: Credential[] = [];

beforeAll(async () => {
  contract = await readContract(world());
  for (const scopes of subsets) credentials.push(await keyWith(scopes), await tokenWith(scopes));
  // The service creates the signing keys when it reads the first token.
  await (await tokenWith([])).send({ method: "GET", url: "/api/v1/open/identity" });
});

async function keyWith(scopes: readonly PermissionScope[]): Promise<Credential> {
  const { data } = await askGraph(
    world(),
    "mutation ($input: ApiKeyCreateInput!) { apiKeyCreate(input: $input) { value apiKey { scopes } } }",
    {
      input: {
        installationId: await installationOf(world()),
        name: `Key ${scopes.join(" ")}`,
        scopes: scopes.map((scope) => scope.toUpperCase().replace(":", "_")),
      },
    },
    { token: "operator" },
  );
  return {
    kind: "key",
    scopes,
    send: (request) =>
      world().send({
        ...request,
        headers: { authorization: `Bearer ${data.value}`, "idempotency-key": randomUUID() },
      }),
  };
}

async function tokenWith(scopes: readonly PermissionScope[]): Promise<Credential> {
  const client = await createTokenClient(world(), { scopes });
  return {
    kind: "token",
    scopes,
    send: (request) => client.send({ ...request, headers: { "idempotency-key": randomUUID() } }),
  };
}

it("every operation requires the contract's scope, and no other operation exists", () => {
  const shown = Object.fromEntries(
    contract.operations.map((operation) => [operation.operationId, operation["x-required-scope"]]),
  );
  const expected = Object.entries(validCalls).map(([id, { needs }]) => [
    id,
    // Only operations that accept API keys name a scope.
    needs === "anonymous" || needs === "token" ? undefined : (needs ?? "none"),
  ]);
  expect(shown).toEqual(Object.fromEntries(expected));
  expect(subsets).toHaveLength(16);
});

it.each(Object.entries(validCalls))(
  "%s answers callers that have its scope, for every subset of scopes",
  async (operationId, { needs, make }) => {
    const operation = contract.operations.find((candidate) => candidate.operationId === operationId);
    if (operation === undefined) throw new Error(`There is no operation ${operationId}.`);
    const isAllowed = ({ kind, scopes }: Credential): boolean => {
      if (needs === "token") return kind === "token";
      return needs === null || needs === "anonymous" || scopes.includes(needs);
    };

    const request = requestOf(operation, await make(world()));
    const before = await digestTables(world());
    for (const credential of credentials.filter((one) => !isAllowed(one)))
      expectRefused(await credential.send(request), { needs, credential });
    expect(withoutProofs(await digestTables(world()))).toEqual(withoutProofs(before));

    for (const credential of credentials.filter(isAllowed)) {
      const { status, body } = await credential.send(requestOf(operation, await make(world())));
      const { kind, scopes } = credential;
      expect({ kind, scopes, status, error: body.error }).toEqual({
        kind,
        scopes,
        status: 200,
        error: undefined,
      });
      expect(contract.faultsOf(operationId, 200, body)).toEqual([]);
    }
  },
);

/** Expects that the missing scope is the only reason of the refusal. */
function expectRefused(
  answer: Answer,
  { needs, credential }: { readonly needs: string | null; readonly credential: Credential },
): void {
  if (needs === "token") {
    const wwwAuthenticate = dpopChallenge.replace(", resource", ', error="invalid_token", resource');
    expectError(answer, {
      status: 401,
      code: "oauth_token_invalid",
      headers: { "www-authenticate": wwwAuthenticate },
    });
    return;
  }
  const scope = needs ?? "";
  expectError(answer, {
    status: 403,
    code: "scope_missing",
    details: [{ in: "header", field: "Authorization", code: "scope_missing", allowed: [scope] }],
    headers: { "www-authenticate": challengesOf[credential.kind](scope) },
  });
}
