/** What the page holds ready for the script: the content of a template, put in the template's place. */
export function unfold(id: string): boolean {
  const template = document.getElementById(id);
  if (!(template instanceof HTMLTemplateElement)) return false;
  template.replaceWith(template.content.cloneNode(true));
  return true;
}
