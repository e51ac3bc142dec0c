/**
 * One browser, two people: who signed in in one tab is not who the browser's session is of by the time that the answer goes on its way, because somebody
 * else did in another. oidc-provider would then ask, on a page of its own, whether to sign that one out; who typed a password last is who is meant.
 */
import type { Provider } from "oidc-provider";
import { oauthPaths } from "#access/authorization.ts";

type Context = Parameters<Provider["Session"]["get"]>[0];

/** Where an answered interaction goes on. */
export const isResumed = (path: string): boolean => path.startsWith(`${oauthPaths.authorization}/`);

/** Forgets the session that the cookie names, where it is of somebody else than the sign-in that is resumed. */
export async function forgetOtherPerson(provider: Provider, context: Context): Promise<void> {
  const uid = context.cookies.get(provider.cookieName("resume"), { signed: true });
  const interaction = uid === undefined ? undefined : await provider.Interaction.find(uid);
  const accountId = interaction?.result?.login?.accountId;
  if (accountId === undefined) return;
  const session = await provider.Session.get(context);
  // An interaction that began in another session than this one is at its end, and this one stays.
  const beganIn = interaction?.session?.uid;
  if (beganIn !== undefined && beganIn !== session.uid) return;
  if (session.accountId !== undefined && session.accountId !== accountId) await session.destroy();
}
