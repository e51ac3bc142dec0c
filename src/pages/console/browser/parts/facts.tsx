/** What is known of a thing, by name. */
import type { ComponentChildren, JSX } from "preact";

interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
}

export const Fact = ({ name, children }: FactProps): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
