/**
 * All addresses of a name, from DNS alone: no search domains, no hosts file, and no thread of the pool that the rest of the process shares, so
 * that slow name servers of one receiver delay nobody else.
 */
import { Resolver } from "node:dns/promises";

/** Answers with all addresses, none where the name has none. Gives up when the signal says so. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export const resolveName: ResolveName = async (name, signal) => {
  // Never a question for the network (RFC 6761).
  if (name === "localhost") return ["127.0.0.1", "::1"];
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  } finally {
    signal.removeEventListener("abort", cancel);
  }
};

/** The same within a time limit, whatever the resolver does about the signal; nothing where it took longer or failed. */
export async function resolveInTime(
  name: string,
  { resolve, signal }: { readonly resolve: ResolveName; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  if (signal.aborted) return [];
  const { promise: isOver, resolve: giveUp } = Promise.withResolvers<readonly string[]>();
  const stop = (): void => giveUp([]);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([resolve(name, signal).catch(() => []), isOver]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
