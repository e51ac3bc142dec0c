/**
 * Routes of the merchants' console: the sign-in page, the page that the console's script fills, and the
 * sign-out. Every sign-in starts a new session and ends the earlier session of the same browser.
 */
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "#foundation/log.ts";
import { toClientAddressKey, createStaffLoginRateLimiter } from "#http/caller.ts";
import { type RateLimiter, countRequestAgainstQuota } from "#http/rate-limiter.ts";
import type { GraphqlServices } from "#graph/context.ts";
import {
  createStaffSignInFunction,
  createStaffSession,
  endStaffSession,
  type StaffLoginRateLimiter,
  emptySignInPageError,
  recordStaffSessionUse,
  type StaffSignInFunction,
  type StaffSignInPageError,
  createStaffSignInPageError,
  parseStaffSignInForm,
} from "#access/people/staff-sessions.ts";
import { runInTransaction } from "#database/transaction.ts";
import { getPageScriptAndStylePaths, getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { getSubmittedForm, isSameOriginRequest, acceptOnlyFormBodies } from "#http/body.ts";
import { clearConsoleSessionCookie, setConsoleSessionCookie } from "#http/staff-session.ts";
import { commandLineSignInPlugin } from "./command-line.ts";
import {
  findStaffSessionOfConsoleRequest,
  auditStaffSignInOrSignOut,
  type ConsoleSessionServices,
} from "./console-sessions.ts";
import {
  renderPageThatReloadsWithSessionCookie,
  createConsoleErrorHandler,
  renderConsolePage,
  renderConsoleSignInPage,
  renderCrossOriginFormRefusedPage,
  sendConsolePage,
  renderSuspendedShopPage,
} from "./console-pages.ts";

export interface ConsolePluginOptions {
  readonly services: GraphqlServices;
  readonly limiter: RateLimiter;
  readonly log: Log;
}

export const consolePlugin: FastifyPluginAsync<ConsolePluginOptions> = async (
  server,
  { services: { db, clock, publicUrl, keyring }, limiter, log },
) => {
  // Each request for a console page counts against the rate limit of its IP address for reads without a
  // credential.
  const limitAddress: ConsoleServices["limitAddress"] = async (request, reply) =>
    countRequestAgainstQuota(limiter, reply, { bucket: "anon-read", key: toClientAddressKey(request.ip) });
  const shared = { db, clock, publicUrl, log, limitAddress };
  mountConsole(server, { ...shared, loginLimit: createStaffLoginRateLimiter(limiter) });
  await server.register(commandLineSignInPlugin, { ...shared, keyring });
};

interface ConsoleServices extends ConsoleSessionServices {
  readonly log: Log;
  readonly loginLimit: StaffLoginRateLimiter;
  /** Counts a request by its IP address. Throws `rate_limited` if the address has sent too many requests. */
  readonly limitAddress: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

function mountConsole(server: FastifyInstance, services: ConsoleServices): void {
  const { publicUrl } = services;
  const { origin } = new URL(publicUrl);
  const home = `${getBasePathOfPublicUrl(publicUrl)}/console`;
  const signIn = createStaffSignInFunction(services);
  void server.register((pages, _options, done) => {
    pages.setErrorHandler(createConsoleErrorHandler(services.log));
    acceptOnlyFormBodies(pages);
    pages.addHook("onRequest", services.limitAddress);
    for (const path of ["/console", "/console/*"])
      pages.get(path, (request, reply) => showConsole({ request, reply }, services));
    for (const path of ["/console/sign-in", "/console/sign-out"])
      pages.get(path, (_request, reply) => reply.redirect(home, 303));
    pages.post("/console/sign-in", (request, reply) =>
      isSameOriginRequest(request, origin)
        ? answerSignIn({ request, reply }, services, signIn)
        : refuseForeign(reply, publicUrl),
    );
    pages.post("/console/sign-out", (request, reply) =>
      isSameOriginRequest(request, origin)
        ? answerSignOut({ request, reply }, services)
        : refuseForeign(reply, publicUrl),
    );
    done();
  });
}

/**
 * Refuses a form from another origin. The origin also differs if the console was opened under another host
 * name than that of the public URL. Signing in could not work there, because browsers would not send a cookie
 * of that host name to the public URL.
 */
const refuseForeign = (reply: FastifyReply, publicUrl: string): FastifyReply =>
  sendConsolePage(reply.code(403), renderCrossOriginFormRefusedPage(publicUrl));

async function showConsole({ request, reply }: Visit, services: ConsoleServices): Promise<FastifyReply> {
  const { db, publicUrl } = services;
  const session = await findStaffSessionOfConsoleRequest(request, services);
  const next = getPathAfterSignIn(request.url);
  if (session === undefined) {
    if (request.headers["sec-fetch-site"] === "cross-site")
      return sendConsolePage(
        reply,
        renderPageThatReloadsWithSessionCookie(getBasePathOfPublicUrl(publicUrl) + next),
      );
    return sendConsolePage(reply, renderConsoleSignInPage({ next, publicUrl, email: "", fault: undefined }));
  }
  if (session.isSuspended)
    return sendConsolePage(reply.code(403), renderSuspendedShopPage(session, publicUrl));
  const { secret } = session;
  void recordStaffSessionUse(db, secret, services.clock.now()).catch(() => undefined);
  return sendConsolePage(
    reply,
    renderConsolePage(session, { asset: getPageScriptAndStylePaths("console", publicUrl), publicUrl }),
  );
}

/**
 * Returns the path of the console page that opens after signing in. A requested path outside the console is
 * replaced by the console's start page.
 */
export function getPathAfterSignIn(next: string | null): string {
  const url = URL.parse(next ?? "", "http://here");
  if (url === null || url.origin !== "http://here" || !/^\/console(?:\/|$)/.test(url.pathname))
    return "/console";
  return /^\/console\/sign-(?:in|out)$/.test(url.pathname) ? "/console" : url.pathname + url.search;
}

async function answerSignIn(
  { request, reply }: Visit,
  services: ConsoleServices,
  signIn: StaffSignInFunction,
): Promise<FastifyReply> {
  const { publicUrl } = services;
  const form = getSubmittedForm(request);
  const { email, password } = parseStaffSignInForm(form);
  const next = getPathAfterSignIn(form.get("next"));
  const again = ({ status, message, code, retryAfterSeconds }: StaffSignInPageError): FastifyReply => {
    request.failureCode = code;
    if (retryAfterSeconds !== null) void reply.header("retry-after", String(retryAfterSeconds));
    return sendConsolePage(
      reply.code(status),
      renderConsoleSignInPage({ next, publicUrl, email, fault: message }),
    );
  };
  if (email === "" || password === "") return again(emptySignInPageError);
  const outcome = await signIn({ email, password, address: request.ip });
  if (outcome.kind !== "signed_in") return again(createStaffSignInPageError(outcome));
  const { staff } = outcome;
  const before = await findStaffSessionOfConsoleRequest(request, services);
  const now = services.clock.now();
  const secret = await runInTransaction(services.db, async (transaction) => {
    if (before !== undefined) await endStaffSession(transaction, before.secret);
    await auditStaffSignInOrSignOut(transaction, "consoleSignIn", { staff, now, requestId: request.id });
    return createStaffSession(transaction, staff, { now });
  });
  request.credential = { staffId: staff.staffId };
  setConsoleSessionCookie(reply, publicUrl, secret);
  return reply.redirect(getBasePathOfPublicUrl(publicUrl) + next, 303);
}

async function answerSignOut({ request, reply }: Visit, services: ConsoleServices): Promise<FastifyReply> {
  const { publicUrl } = services;
  const session = await findStaffSessionOfConsoleRequest(request, services);
  const now = services.clock.now();
  if (session !== undefined) {
    await runInTransaction(services.db, async (transaction) => {
      if (!(await endStaffSession(transaction, session.secret))) return;
      await auditStaffSignInOrSignOut(transaction, "consoleSignOut", {
        staff: session.staff,
        now,
        requestId: request.id,
      });
    });
  }
  clearConsoleSessionCookie(reply, publicUrl);
  return reply.redirect(`${getBasePathOfPublicUrl(publicUrl)}/console`, 303);
}
