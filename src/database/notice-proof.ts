/**
 * Whether notices arrive at all: a connection that answers may be one that a transaction pooler lends from a server's to another's, and what is told to
 * listeners is lost on the way. So from time to time this process tells itself something, by way of the pool, and waits until it hears it.
 */
import { randomUUID } from "node:crypto";

interface ProofParts {
  /** Tells the listeners; resolves once it is committed. */
  readonly tell: (payload: string) => Promise<unknown>;
  /** Something told did not arrive: once, until something does. */
  readonly onDeaf: () => void;
  /** It arrives again, and other things may have been missed. */
  readonly onRegained: () => void;
}

export interface NoticeProof {
  readonly isGiven: () => boolean;
  /** Whether it was told for a proof, this process's or another's. */
  readonly hear: (payload: string) => boolean;
  /** The connection answered what it was asked then; all that was told before has been heard by now, or never will be. */
  readonly onAnswer: (askedAtMs: number) => void;
  /** The connection is gone. */
  readonly forget: () => void;
}

const everyMs = 10_000;
/** After what could not be told. */
const againMs = 1_000;
/** Between the commit of what was told and a question whose answer proves that it is lost: for a server that is in no hurry to tell. */
const arrivesMs = 1_000;
/** Where nothing can be told any more: as long as what is kept of credentials. */
const provenMs = 30_000;
const mark = "proof:";

export function createNoticeProof({ tell, onDeaf, onRegained }: ProofParts): NoticeProof {
  let told: { readonly payload: string; readonly begunAtMs: number; committedAtMs: number } | undefined;
  let provenAtMs = Number.NEGATIVE_INFINITY;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let isDeaf = false;

  const isGiven = (): boolean => performance.now() - provenAtMs <= provenMs;
  const begin = (): void => {
    const mine = { payload: `${mark}${randomUUID()}`, begunAtMs: performance.now(), committedAtMs: Number.POSITIVE_INFINITY };
    told = mine;
    const end = (): void => {
      if (told !== mine) return;
      told = undefined;
      nextAtMs = performance.now() + againMs;
    };
    tell(mine.payload).then(() => (mine.committedAtMs = performance.now()), end);
  };
  const lose = (): void => {
    provenAtMs = Number.NEGATIVE_INFINITY;
    told = undefined;
    nextAtMs = performance.now() + everyMs;
    if (!isDeaf) onDeaf();
    isDeaf = true;
  };
  return {
    isGiven,
    hear: (payload) => {
      if (payload === told?.payload) {
        if (isDeaf || (Number.isFinite(provenAtMs) && !isGiven())) onRegained();
        isDeaf = false;
        provenAtMs = told.begunAtMs;
        nextAtMs = told.begunAtMs + everyMs;
        told = undefined;
      }
      return payload.startsWith(mark);
    },
    onAnswer: (askedAtMs) => {
      if (told === undefined) {
        if (performance.now() >= nextAtMs) begin();
      } else if (askedAtMs >= told.committedAtMs + arrivesMs) lose();
    },
    forget: () => {
      provenAtMs = Number.NEGATIVE_INFINITY;
      nextAtMs = Number.NEGATIVE_INFINITY;
      told = undefined;
    },
  };
}
