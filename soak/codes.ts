/**
 * Tests guarantee 13. A staff member authorizes an app repeatedly. Each authorization code is redeemed many
 * times at the same moment, at all processes. Exactly one redemption must return a token. The grant must then
 * be revoked, because a code that is used twice has probably been stolen.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { Database } from "#database/connect.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { type AppBrowser, createAppBrowser } from "./app-browser.ts";
import type { Report } from "./report.ts";
import type { HttpAnswer, SendRequest } from "./shop.ts";

export interface CodesPlan {
  readonly engine: Report["engine"];
  /** Functions that each send requests to one process. All processes use the same database. */
  readonly senders: readonly [SendRequest, ...SendRequest[]];
  readonly publicUrl: string;
  readonly access: Pick<DemoJsonFileContent, "staff" | "oauthClient">;
  readonly copies: number;
  readonly isOver: (counts: { readonly codes: number }) => boolean;
  readonly onStep?: (text: string) => void;
}

interface Counts {
  codes: number;
  redemptions: number;
  tokens: number;
  refused: number;
}

export async function runCodes(plan: CodesPlan): Promise<Report> {
  const { senders, publicUrl, access, engine } = plan;
  const browser = createAppBrowser({ ask: senders[0], publicUrl, staff: access.staff });
  const counts: Counts = { codes: 0, redemptions: 0, tokens: 0, refused: 0 };
  const violations: string[] = [];
  while (!plan.isOver(counts)) {
    violations.push(...(await redeemAtOnce(plan, { browser, counts })));
    counts.codes += 1;
    if (counts.codes % 50 === 0) plan.onStep?.(`${engine}: ${counts.codes} codes, ${counts.tokens} tokens`);
  }
  return { figure: "oauth", engine, counts: { ...counts }, violations };
}

interface Round {
  readonly browser: AppBrowser;
  readonly counts: Counts;
}

async function redeemAtOnce(
  { senders, publicUrl, access, copies }: CodesPlan,
  { browser, counts }: Round,
): Promise<string[]> {
  const { clientId, redirectUri } = access.oauthClient;
  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const code = await browser.authorize({ clientId, redirectUri, challenge });
  const fields = {
    grant_type: "authorization_code",
    client_id: clientId,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  };
  const proofs = await proofsFor(`${publicUrl}/oauth/token`, copies);
  const answers = await Promise.all(
    proofs.map((dpop, index) =>
      (senders[index % senders.length] ?? senders[0])({
        method: "POST",
        url: "/oauth/token",
        headers: { "content-type": "application/x-www-form-urlencoded", dpop },
        body: new URLSearchParams(fields).toString(),
      }),
    ),
  );
  const given = answers.filter(
    ({ status, text }) => status === 200 && typeof parse(text)["access_token"] === "string",
  );
  const refused = answers.filter(
    ({ status, text }) => status === 400 && parse(text)["error"] === "invalid_grant",
  );
  counts.redemptions += answers.length;
  counts.tokens += given.length;
  counts.refused += refused.length;
  const others = answers.filter((one) => !given.includes(one) && !refused.includes(one));
  return [
    ...(given.length === 1 ? [] : [`Code ${counts.codes} returned ${given.length} tokens.`]),
    ...others.map(
      ({ status, text }: HttpAnswer) =>
        `Code ${counts.codes} was answered with ${status}: ${text.slice(0, 300)}`,
    ),
  ];
}

/** Creates DPoP proofs that are all signed with the same key, because all redemptions are by one app. */
async function proofsFor(url: string, count: number): Promise<string[]> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(publicKey);
  const prove = (): Promise<string> =>
    new SignJWT({ htm: "POST", htu: url, jti: randomUUID() })
      .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk })
      .setIssuedAt()
      .sign(privateKey);
  return Promise.all(Array.from({ length: count }, prove));
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Checks in the database that each code had one grant, and that all grants are revoked. */
export async function findCodeFaults(
  db: Database,
  { clientId, codes }: { readonly clientId: string; readonly codes: number },
): Promise<string[]> {
  const grants = await db
    .selectFrom("oauthGrant")
    .select(["id", "revokedAt"])
    .where("clientId", "=", clientId)
    .execute();
  return [
    ...(grants.length === codes ? [] : [`${codes} codes created ${grants.length} grants.`]),
    ...grants
      .filter(({ revokedAt }) => revokedAt === null)
      .map(({ id }) => `Grant ${id} is still valid, although its code was used many times.`),
  ];
}
