// @ts-check
/** Elements without markup: text is always text, so nothing a model or a file says becomes HTML here. */

/** @typedef {string | number | Node | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Props */

/**
 * Makes an element. Functions (`onclick`) become listeners, `true` an empty attribute, `false`/undefined none.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) setProp(element, name, value);
  element.append(...children.filter(isShown).map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** @param {Element} element @param {string} name @param {Props[string]} value */
function setProp(element, name, value) {
  if (typeof value === 'function') element.addEventListener(name.slice(2), value);
  else if (value === false || value === undefined || value === null) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : `${value}`);
}

/** Sets text only where it differs, so that nothing is announced or selected anew. @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Makes `parent` hold exactly these nodes in this order, moving only what is out of place.
 * @param {Element} parent @param {readonly Node[]} nodes
 */
export function place(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of Array.from(parent.childNodes)) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, i) => {
    if (parent.childNodes[i] !== node) parent.insertBefore(node, parent.childNodes[i] ?? null);
  });
}

/**
 * An element of index.html, which has it.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {string} id @returns {HTMLElementTagNameMap[K]}
 */
export function byId(tag, id) {
  const element = document.getElementById(id);
  if (element?.localName !== tag) throw new Error(`index.html has no <${tag} id="${id}">`);
  return /** @type {HTMLElementTagNameMap[K]} */ (element);
}

/** @param {Child} child @returns {child is string | number | Node} */
const isShown = (child) => child !== null && child !== undefined && child !== false;
