/**
 * The sign-in of the command `commerce login`. A staff member who is signed in to the console confirms the
 * sign-in on a page. The page creates a code, and shows it or redirects to a port of the staff member's
 * machine with it (RFC 8252). The command exchanges the code for a session of the console with the staff
 * member's rights. The exchange also needs the PKCE verifier, which only the command knows (RFC 7636).
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { createStaffSession, findStaffSession } from "#access/people/staff-sessions.ts";
import { getViolatedConstraintName } from "#database/database-errors.ts";
import { runInTransaction } from "#database/transaction.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createFailure } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";
import { acceptOnlyFormBodies, isSameOriginRequest, getSubmittedForm } from "#http/body.ts";
import { formatConsoleSessionCookie } from "#http/staff-session.ts";
import { getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { html } from "#pages/shared/html.ts";
import { getUrlSchemeOfRedirectUri, type HtmlPage } from "#pages/shared/page.ts";
import {
  renderConsoleMessagePage,
  renderConsoleSignInPage,
  createConsoleErrorHandler,
  renderCrossOriginFormRefusedPage,
  renderPageThatReloadsWithSessionCookie,
  sendConsolePage,
  renderSuspendedShopPage,
} from "./console-pages.ts";
import {
  findStaffSessionOfConsoleRequest,
  auditStaffSignInOrSignOut,
  type ConsoleSessionServices,
  type StaffSessionWithSecret,
} from "./console-sessions.ts";

export interface CommandLineSignInServices extends ConsoleSessionServices {
  readonly keyring: EncryptionKeyring;
  readonly log: Log;
  readonly limitAddress: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

const path = "/console/command-line";
const sessionPath = `${path}/session`;
const codeLifeMs = 300_000;

export const commandLineSignInPlugin: FastifyPluginAsync<CommandLineSignInServices> = async (
  server,
  services,
) => {
  await server.register((pages, _options, done) => {
    mountPages(pages, services);
    done();
  });
  server.post(sessionPath, { onRequest: services.limitAddress }, async (request, reply) => {
    const cookie = await redeemCode(request, services);
    void reply.header("cache-control", "no-store");
    return { data: { cookie } };
  });
};

function mountPages(pages: FastifyInstance, services: CommandLineSignInServices): void {
  const { publicUrl } = services;
  pages.setErrorHandler(createConsoleErrorHandler(services.log));
  acceptOnlyFormBodies(pages);
  pages.addHook("onRequest", services.limitAddress);
  pages.get(path, async (request, reply) => {
    const asked = parseLoginRequest(new URL(request.url, "http://here").searchParams);
    if (asked === undefined) return sendConsolePage(reply.code(400), malformedPage);
    const session = await findStaffSessionOfConsoleRequest(request, services);
    if (session !== undefined) return sendConsolePage(reply, confirmationPage(session, asked, publicUrl));
    return request.headers["sec-fetch-site"] === "cross-site"
      ? sendConsolePage(
          reply,
          renderPageThatReloadsWithSessionCookie(getBasePathOfPublicUrl(publicUrl) + request.url),
        )
      : sendConsolePage(
          reply,
          renderConsoleSignInPage({ next: request.url, publicUrl, email: "", fault: undefined }),
        );
  });
  pages.post(path, async (request, reply) => {
    const form = getSubmittedForm(request);
    const asked = parseLoginRequest(form);
    const session = await findStaffSessionOfConsoleRequest(request, services);
    if (!isSameOriginRequest(request, new URL(publicUrl).origin))
      return sendConsolePage(reply.code(403), renderCrossOriginFormRefusedPage(publicUrl));
    if (asked === undefined || session === undefined) return sendConsolePage(reply.code(400), malformedPage);
    if (session.isSuspended)
      return sendConsolePage(reply.code(403), renderSuspendedShopPage(session, publicUrl));
    const isAllowed = form.get("answer") === "allow";
    const code = isAllowed ? createCode(session, asked, services) : undefined;
    if (asked.redirectUri === undefined) return sendConsolePage(reply, codePage(code));
    const target = new URL(asked.redirectUri);
    target.searchParams.set("state", asked.state);
    if (code === undefined) target.searchParams.set("error", "access_denied");
    else target.searchParams.set("code", code);
    return reply.header("cache-control", "no-store").redirect(target.href, 303);
  });
}

interface LoginRequest {
  readonly state: string;
  /** The PKCE challenge from the command: the SHA-256 digest of the command's PKCE verifier. */
  readonly challenge: string;
  /**
   * The URL on the staff member's own machine to which the page redirects with the sign-in code. Undefined if
   * the page shows the code instead.
   */
  readonly redirectUri: string | undefined;
}

const loopbackUri = /^http:\/\/(?:127\.0\.0\.1|\[::1\]):\d{1,5}\/callback$/;

/**
 * Reads the parameters of the command's sign-in from the URL: the parameters of RFC 6749 and the PKCE
 * challenge of RFC 7636. Returns undefined if a parameter is missing or invalid.
 */
function parseLoginRequest(parameters: URLSearchParams): LoginRequest | undefined {
  const state = parameters.get("state") ?? "";
  const challenge = parameters.get("code_challenge") ?? "";
  const redirectUri = parameters.get("redirect_uri") ?? undefined;
  const isValid =
    /^[\w-]{16,128}$/.test(state) &&
    /^[\w-]{43}$/.test(challenge) &&
    parameters.get("code_challenge_method") === "S256" &&
    (redirectUri === undefined || (loopbackUri.test(redirectUri) && URL.canParse(redirectUri)));
  return isValid ? { state, challenge, redirectUri } : undefined;
}

const malformedPage = renderConsoleMessagePage(
  "This sign-in is not complete",
  "Run “commerce login” again and open the address that it prints.",
);

function confirmationPage(
  { staff, merchantName }: StaffSessionWithSecret,
  { state, challenge, redirectUri }: LoginRequest,
  publicUrl: string,
): HtmlPage {
  const heading = "Sign in the command line?";
  return {
    title: `${heading} – Console`,
    leadsTo: redirectUri === undefined ? undefined : getUrlSchemeOfRedirectUri(redirectUri),
    body: html`<h1>${heading}</h1>
      <p>
        The command “commerce login” asks to act as <strong>${staff.email}</strong> for
        <strong>${merchantName}</strong>, with the role ${staff.role}, for at most 12 hours. Allow this only
        if you have just run this command yourself.
      </p>
      <form method="post" action="${getBasePathOfPublicUrl(publicUrl)}${path}">
        <input type="hidden" name="state" value="${state}" />
        <input type="hidden" name="code_challenge" value="${challenge}" />
        <input type="hidden" name="code_challenge_method" value="S256" />
        ${
          redirectUri === undefined
            ? undefined
            : html`<input type="hidden" name="redirect_uri" value="${redirectUri}" />`
        }
        <button name="answer" value="allow">Allow</button>
        <button name="answer" value="deny" class="second">Don’t allow</button>
      </form>`,
  };
}

function codePage(code: string | undefined): HtmlPage {
  if (code === undefined)
    return renderConsoleMessagePage("The command line is not signed in", "You can close this page.");
  return renderConsoleMessagePage(
    "Enter this code in the terminal",
    "Paste the code where “commerce login” asks for it. Give it to nobody else. It is valid for 5 minutes.",
    [html`<p><code>${code}</code></p>`],
  );
}

const codeContent = z.object({
  id: z.string(),
  staffId: z.string(),
  merchantId: z.string(),
  version: z.int(),
  challenge: z.string(),
  expiresAt: z.int(),
});
type CodeContent = z.infer<typeof codeContent>;

const sign = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const purpose = "codes of command line sign-ins";

/**
 * Creates a sign-in code from its content and a signature of the content. The signature proves that the
 * service created the code, so codes are not stored in the database.
 */
function createCode(
  { staff }: StaffSessionWithSecret,
  { challenge }: LoginRequest,
  { keyring, clock }: CommandLineSignInServices,
): string {
  const { staffId, merchantId, version } = staff;
  const content: CodeContent = {
    id: randomBytes(16).toString("base64url"),
    staffId,
    merchantId,
    version,
    challenge,
    expiresAt: clock.now().getTime() + codeLifeMs,
  };
  const text = Buffer.from(JSON.stringify(content)).toString("base64url");
  const [key] = keyring.derive(purpose);
  if (key === undefined) throw new Error("The keyring has no key.");
  return `${text}.${sign(key, text).toString("base64url")}`;
}

const redeemBody = z.strictObject({ code: z.string().max(2_000), codeVerifier: z.string().max(200) });

/**
 * Exchanges a sign-in code for a new session of the console, and returns the session's cookie. A code can be
 * used only once: the session's secret is computed from the code, so a second use would insert the same
 * primary key again.
 */
async function redeemCode(request: FastifyRequest, services: CommandLineSignInServices): Promise<string> {
  const { db, clock, publicUrl, keyring } = services;
  const now = clock.now();
  const body = redeemBody.safeParse(request.body).data;
  const verified = body === undefined ? undefined : verifyCode(body.code, keyring);
  if (body === undefined || verified === undefined || verified.content.expiresAt <= now.getTime())
    throw refusal();
  const { content, key } = verified;
  const challenge = createHash("sha256").update(body.codeVerifier).digest("base64url");
  if (challenge !== content.challenge) throw refusal();
  const secret = sign(key, `session ${content.id}`).toString("base64url");
  await runInTransaction(db, async (transaction) => {
    await createStaffSession(transaction, content, { now, secret });
    await auditStaffSignInOrSignOut(transaction, "commandLineSignIn", {
      staff: content,
      now,
      requestId: request.id,
    });
  }).catch((error: unknown) => {
    throw getViolatedConstraintName(error) === undefined ? error : refusal();
  });
  // Reads the staff account again, because it may have been disabled or changed since the confirmation of the
  // sign-in.
  if ((await findStaffSession(db, secret, now)) === undefined) throw refusal();
  request.credential = { staffId: content.staffId };
  return formatConsoleSessionCookie(publicUrl, secret);
}

const refusal = (): Error =>
  createFailure("credentials_malformed", {
    message: "The code is wrong, expired or already used. Run `commerce login` again.",
  });

function verifyCode(
  code: string,
  keyring: EncryptionKeyring,
): { content: CodeContent; key: Buffer } | undefined {
  const [text = "", signature = ""] = code.split(".");
  const given = Buffer.from(signature, "base64url");
  const key = keyring.derive(purpose).find((candidate) => {
    const expected = sign(candidate, text);
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
  if (key === undefined) return undefined;
  const content = codeContent.safeParse(JSON.parse(Buffer.from(text, "base64url").toString())).data;
  return content === undefined ? undefined : { content, key };
}
