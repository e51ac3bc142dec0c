/**
 * Runs in the GraphiQL page, before it: a page that is loaded again opens the tab that was open. GraphiQL looks for the tab whose content it kept as
 * the last query, keeps that only once something was typed, and else opens an empty one.
 */
export const reopenScript = `
(() => {
  try {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem("graphiql:tabState")) ?? {};
    const tab = tabs?.[activeTabIndex];
    if (!tab?.query || localStorage.getItem("graphiql:query") !== null) return;
    localStorage.setItem("graphiql:query", tab.query);
    if (tab.variables) localStorage.setItem("graphiql:variables", tab.variables);
  } catch {
    // What cannot be read was not written by GraphiQL, which then begins anew.
  }
})();
`;
