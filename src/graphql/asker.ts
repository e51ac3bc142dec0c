/** Who sent a request to /graphql: found out before its body is read, needed when it is answered. */
import type { FastifyRequest } from "fastify";
import { type InternalViewer, isPerson } from "#access/viewer.ts";

/** What Yoga is handed with a request. */
export interface Arrival {
  readonly asker: FastifyRequest;
}

const viewers = new WeakMap<FastifyRequest, InternalViewer>();

export function setViewer(request: FastifyRequest, viewer: InternalViewer): void {
  viewers.set(request, viewer);
}

/** For the log: the token or the person. */
export function noteCredential(request: FastifyRequest, viewer: InternalViewer): void {
  request.credential = isPerson(viewer) ? { staffId: viewer.staffId } : { tokenId: viewer.tokenId };
}

const replays = new WeakMap<FastifyRequest, boolean>();

/** Told in a header: whether an earlier request had the effect; undefined where no key was sent. */
export function setReplayed(request: FastifyRequest, isReplay: boolean): void {
  replays.set(request, isReplay);
}

export function replayedOf(request: FastifyRequest): boolean | undefined {
  return replays.get(request);
}

export function viewerOf(request: FastifyRequest): InternalViewer | undefined {
  return viewers.get(request);
}
