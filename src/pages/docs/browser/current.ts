/** Scrolls the contents, and nothing else, to where the page stands in them. */
export function showCurrent(): void {
  const contents = document.getElementById("contents");
  const current = contents?.querySelector<HTMLElement>("[aria-current=page]");
  if (contents === null || current === null || current === undefined) return;
  contents.scrollTop = current.offsetTop - contents.clientHeight / 2;
}
