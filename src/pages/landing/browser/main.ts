/** Adds a "Copy" button to each value and example of the landing page. */
import "#pages/shared/browser/components.css";
import "./landing.css";

const shownMs = 2000;

for (const block of document.querySelectorAll<HTMLElement>(".demo dd, .demo pre")) {
  const button = document.createElement("button");
  const name = block.closest("div")?.querySelector("dt")?.textContent ?? "the request";
  button.type = "button";
  button.className = "second copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${name}`);
  const text = block.textContent ?? "";
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(text).then(
      () => (button.textContent = "Copied"),
      () => (button.textContent = "Select it"),
    );
    setTimeout(() => (button.textContent = "Copy"), shownMs);
  });
  if (block.localName === "dd") block.append(button);
  else block.after(button);
}
