/**
 * The layout of the console around the current page: the navigation, the name of the signed-in staff member
 * and the sign-out button.
 */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { PageHeading, ConsoleLink, type ConsoleLocation, useConsoleLocation } from "./navigation.tsx";
import { consolePath } from "./graph/client.ts";
import { type ConsoleRole, type NavigationLink, navigationLinks, pagesOfRole } from "./console-pages.tsx";
import { ConsoleSearchField } from "./search/search-field.tsx";

export function ConsoleApp({ person }: { readonly person: Person }): JSX.Element {
  const place = useConsoleLocation();
  return (
    <Frame person={person} place={place}>
      <PageAt key={place.parts.join("/")} place={place} role={person.role} />
    </Frame>
  );
}

interface PageAtProps {
  readonly place: ConsoleLocation;
  readonly role: ConsoleRole;
}

function PageAt({ place, role }: PageAtProps): JSX.Element {
  const [part = "", id, rest] = place.parts;
  const page = rest === undefined ? pagesOfRole[role][part] : undefined;
  const element = id === undefined ? page?.list?.(place) : page?.detail?.(id, place);
  return element ?? <UnknownPage role={role} />;
}

function UnknownPage({ role }: { readonly role: ConsoleRole }): JSX.Element {
  if (role === "analyst")
    return (
      <>
        <PageHeading title="Your role has no access to this page" />
        <p>
          Your account has the role Analyst. An admin of your shop can change the role.{" "}
          <ConsoleLink to="">Go to the reports</ConsoleLink>.
        </p>
      </>
    );
  return (
    <>
      <PageHeading title="This page does not exist" />
      <p>
        The console has no page with this address. <ConsoleLink to="">Go to the overview</ConsoleLink>.
      </p>
    </>
  );
}

/** The layout that all console pages share: the merchant's name, the navigation, and the sign-out button. */
interface Person {
  readonly merchantName: string;
  readonly staffName: string;
  readonly staffEmail: string;
  readonly role: ConsoleRole;
}

interface FrameProps {
  readonly person: Person;
  readonly place: ConsoleLocation;
  readonly children: ComponentChildren;
}

function Frame({ person, place, children }: FrameProps): JSX.Element {
  const links = useRef<HTMLUListElement>(null);
  const [part = ""] = place.parts;
  useEffect(() => {
    if (links.current !== null) scrollToCurrent(links.current);
  }, [part]);
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <p class="brand">
          <strong>{person.merchantName}</strong> <span>Console</span>
        </p>
        {person.role === "admin" ? <ConsoleSearchField place={place} /> : null}
        <nav aria-label="Console">
          <ul ref={links}>
            {linksFor(person.role).map(({ to, name, icon, pages }) => (
              <li key={to}>
                <ConsoleLink to={to} aria-current={pages.includes(part) ? "page" : undefined}>
                  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
                    <path d={icon} />
                  </svg>
                  {name}
                </ConsoleLink>
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

const linksFor = (role: ConsoleRole): readonly NavigationLink[] =>
  navigationLinks.filter(
    ({ pages: [page = ""] }) => role === "admin" || (page !== "" && page in pagesOfRole[role]),
  );

/**
 * Scrolls the navigation so that the current page's link is in the middle. In a narrow window, the links are
 * in one row that scrolls sideways.
 */
function scrollToCurrent(links: HTMLElement): void {
  const current = links.querySelector<HTMLElement>("[aria-current]");
  if (current === null) return;
  const offset = current.getBoundingClientRect().left - links.getBoundingClientRect().left;
  links.scrollLeft += offset - (links.clientWidth - current.clientWidth) / 2;
}
