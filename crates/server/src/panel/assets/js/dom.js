// Builds the page. Stored text only ever becomes a text node, so it can never act as markup.
//
//   h("p.note", "text")                                   tag and classes, then children
//   h("button.primary", { type: "button", onclick: f, "aria-label": "Close", disabled: true }, icon("close"))
//   h("div", { style: { "--part": "40%" }, dataset: { id } }, [several, children], null, false)   null, false: left out
//   fill(node, ...children)                               replaces what is in it
//   svg("circle", { cx: 1, cy: 2, r: 3 })                 the same for drawings

const SVG = "http://www.w3.org/2000/svg";
const ATTRIBUTES_ONLY = new Set(["list", "form", "role", "for", "colspan"]);

/** @param {unknown} value */
function isProps(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Node);
}

/**
 * @template {string} Name
 * @param {Name} name tag and classes
 * @param {Dom.Props<Dom.Element<Name>> | Dom.Child} [first] properties, or the first child
 * @param {...Dom.Child} rest children
 * @returns {Dom.Element<Name>}
 */
export function h(name, first, ...rest) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  if (isProps(first)) {
    assign(node, /** @type {Record<string, unknown>} */ (first));
    append(node, rest);
  } else {
    append(node, [/** @type {Dom.Child} */ (first), ...rest]);
  }
  return /** @type {Dom.Element<Name>} */ (node);
}

/**
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Dom.SvgProps} props
 * @param {...Dom.Child} children
 */
export function svg(name, props, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(props)) {
    if (typeof value === "function") node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, String(value));
  }
  append(node, children);
  return node;
}

/**
 * @param {HTMLElement} node
 * @param {Record<string, unknown>} props
 */
function assign(node, props) {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (key === "class") {
      node.classList.add(...String(value).split(/\s+/).filter(Boolean));
    } else if (key === "style") {
      for (const [name, part] of Object.entries(value)) node.style.setProperty(name, String(part));
    } else if (key === "dataset") {
      Object.assign(node.dataset, value);
    } else if (key.startsWith("on") && typeof value === "function") {
      node.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    } else if (key in node && !ATTRIBUTES_ONLY.has(key)) {
      Object.assign(node, { [key]: value });
    } else if (value === false) {
      // An ARIA state that is false is still said; any other attribute is left away.
      if (key.startsWith("aria-")) node.setAttribute(key, "false");
    } else {
      node.setAttribute(key, value === true && !key.startsWith("aria-") ? "" : String(value));
    }
  }
}

/**
 * @param {Element} node
 * @param {readonly Dom.Child[]} children
 */
function append(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || typeof child === "boolean") continue;
    if (child instanceof Node) node.append(child);
    else if (typeof child === "object") append(node, child);
    else node.append(document.createTextNode(String(child)));
  }
}

/**
 * @template {Element} E
 * @param {E} node
 * @param {...Dom.Child} children
 */
export function fill(node, ...children) {
  node.replaceChildren();
  append(node, children);
  return node;
}

/**
 * The element that is certainly there.
 * @param {string} selector
 * @param {ParentNode} [within]
 */
export function get(selector, within = document) {
  const node = within.querySelector(selector);
  if (!(node instanceof HTMLElement)) throw new Error(`the page has no ${selector}`);
  return node;
}

/** Whether the person is typing, so that a letter is no shortcut. */
export function isTyping() {
  const at = document.activeElement;
  if (!(at instanceof HTMLElement)) return false;
  return at.matches("input:not([type=checkbox]), textarea, select") || at.isContentEditable;
}

/** Takes the focus from the element that has it. */
export function blur() {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

/**
 * @param {number} wait milliseconds
 * @param {() => unknown} run
 * @returns {Dom.Debounced}
 */
export function debounce(wait, run) {
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(run, wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/**
 * Offers text as a file.
 * @param {string} name
 * @param {string} text
 * @param {string} type
 */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
