/** A state in a word; its colour only says it once more. */
import type { JSX } from "preact";
import { type Tone, toneOf, wordOf } from "./words.ts";

interface BadgeProps {
  readonly value: string;
  readonly tone?: Tone;
  readonly text?: string;
}

export const Badge = ({ value, tone = toneOf(value), text = wordOf(value) }: BadgeProps): JSX.Element => <span class={`badge ${tone}`}>{text}</span>;
