/** What stands around every page: whose console it is, where one can go, and the way out. */
import type { ComponentChildren, JSX } from "preact";
import { consolePath } from "#pages/console/browser/graph/client.ts";
import { Link, type Place } from "./router.tsx";

export interface Person {
  readonly merchantName: string;
  readonly staffName: string;
  readonly staffEmail: string;
}

interface FrameProps {
  readonly person: Person;
  readonly place: Place;
  readonly children: ComponentChildren;
}

const rooms = [
  { to: "", name: "Overview", parts: [undefined] },
  { to: "/installations", name: "Installations", parts: ["installations"] },
  { to: "/keys", name: "API keys", parts: ["keys"] },
  { to: "/endpoints", name: "Webhooks", parts: ["endpoints", "deliveries"] },
] as const;

export function Frame({ person, place, children }: FrameProps): JSX.Element {
  const isHere = (parts: readonly (string | undefined)[]): boolean => parts.includes(place.parts[0]);
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <p class="brand">
          <strong>{person.merchantName}</strong> <span>Console</span>
        </p>
        <nav aria-label="Console">
          <ul>
            {rooms.map(({ to, name, parts }) => (
              <li key={to}>
                <Link to={to} aria-current={isHere(parts) ? "page" : undefined}>
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div class="person">
          <p>
            <span>{person.staffName}</span> <span class="soft">{person.staffEmail}</span>
          </p>
          <form method="post" action={`${consolePath}/sign-out`}>
            <button class="plain">Sign out</button>
          </form>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
