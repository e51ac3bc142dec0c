/** Runs in the GraphiQL page, before it: asks for an internal token, keeps it for the tab (sessionStorage), and sends it with every query. */
export const tokenScript = `
(() => {
  const key = "commerce-gateway-token";
  const plainFetch = window.fetch.bind(window);
  let asking;

  const ask = (message) => {
    asking ??= new Promise((resolve) => {
      const open = () => {
        const dialog = document.createElement("dialog");
        dialog.id = "token-dialog";
        dialog.setAttribute("aria-labelledby", "token-title");
        dialog.innerHTML =
          '<form method="dialog" style="display:grid;gap:12px;max-width:34rem;font:16px/1.4 system-ui,sans-serif">' +
          '<h1 id="token-title" style="font-size:1.2em;margin:0">Internal token</h1>' +
          '<p id="token-help" style="margin:0"></p>' +
          '<label for="token-input">Token <code>cit_…</code></label>' +
          '<input id="token-input" name="token" type="password" autocomplete="off" required aria-describedby="token-help" style="font:inherit;padding:8px">' +
          '<button style="font:inherit;padding:8px;cursor:pointer">Use it in this tab</button></form>';
        dialog.querySelector("#token-help").textContent = message;
        dialog.addEventListener("close", () => {
          sessionStorage.setItem(key, dialog.querySelector("#token-input").value.trim());
          dialog.remove();
          asking = undefined;
          resolve();
        });
        dialog.addEventListener("cancel", (event) => event.preventDefault());
        document.body.append(dialog);
        dialog.showModal();
      };
      if (document.body) open();
      else document.addEventListener("DOMContentLoaded", open);
    });
    return asking;
  };

  const send = (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    if (!headers.has("authorization")) headers.set("authorization", "Bearer " + sessionStorage.getItem(key));
    return plainFetch(input instanceof Request ? input.clone() : input, { ...init, headers });
  };

  window.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input, location.href);
    if (url.origin !== location.origin || url.pathname !== "/graphql") return plainFetch(input, init);
    if (!sessionStorage.getItem(key)) await ask("The graph answers to internal tokens. The demo's are in demo.json under tokens.");
    let answer = await send(input, init);
    while (answer.status === 401) {
      const { errors } = await answer.clone().json();
      sessionStorage.removeItem(key);
      await ask(errors?.[0]?.message ?? "The token is not valid.");
      answer = await send(input, init);
    }
    return answer;
  };
})();
`;
