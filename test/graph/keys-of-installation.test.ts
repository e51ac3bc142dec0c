/** The lists of keys and grants, filtered by one installation. */
import { expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";

const world = useWorld();

async function ask<Data>(
  query: string,
  variables: Record<string, unknown> = {},
  token = "admin",
): Promise<Data> {
  const { body } = await world().graphql(query, { variables, token });
  expect(body.errors).toBeUndefined();
  return body.data as Data;
}

interface Listed {
  readonly apiKeys: {
    readonly totalCount: number;
    readonly edges: readonly { readonly node: { readonly id: string; readonly installationId: string } }[];
  };
  readonly oauthGrants: { readonly totalCount: number };
}

const list = (installationId: string | null): Promise<Listed> =>
  ask<Listed>(
    `query ($installationId: ID) {
      apiKeys(installationId: $installationId, last: 100) { totalCount edges { node { id installationId } } }
      oauthGrants(installationId: $installationId) { totalCount }
    }`,
    { installationId },
  );

it("the lists contain only the installation's keys and grants, and all without a filter", async () => {
  const { demo } = world();
  const { installations } = await ask<{ installations: { edges: { node: { id: string } }[] } }>(
    "{ installations { edges { node { id } } } }",
  );
  const first = installations.edges[0]?.node.id ?? "";
  const before = await list(first);
  expect((await list(null)).apiKeys.totalCount).toBe(before.apiKeys.totalCount);

  const { appCreate } = await ask<{ appCreate: { id: string } }>(
    'mutation { appCreate(input: { name: "Second" }) { id } }',
    {},
    "operator",
  );
  const { installationCreate } = await ask<{ installationCreate: { id: string } }>(
    "mutation ($input: InstallationCreateInput!) { installationCreate(input: $input) { id } }",
    { input: { merchantId: demo.merchants.first.id, appId: appCreate.id, scopes: ["CATALOG_READ"] } },
  );
  const { apiKeyCreate } = await ask<{ apiKeyCreate: { apiKey: { id: string } } }>(
    "mutation ($input: ApiKeyCreateInput!) { apiKeyCreate(input: $input) { apiKey { id } } }",
    { input: { installationId: installationCreate.id, name: "Its own", scopes: ["CATALOG_READ"] } },
  );
  const second = await list(installationCreate.id);
  expect(second.apiKeys.edges).toEqual([
    { node: { id: apiKeyCreate.apiKey.id, installationId: installationCreate.id } },
  ]);
  expect(second.oauthGrants.totalCount).toBe(0);
  expect(await list(first)).toEqual(before);
  expect((await list(null)).apiKeys.totalCount).toBe(before.apiKeys.totalCount + 1);
  expect((await list("ins_nothing")).apiKeys.edges).toEqual([]);
});
