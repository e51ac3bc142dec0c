/** A description: what stands between backticks is code. */
import type { JSX } from "preact";

export function Said({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {text.split("`").map((piece, index) =>
        // Pieces never change their places.
        index % 2 === 1 ? <code key={`${index}`}>{piece}</code> : piece,
      )}
    </>
  );
}
